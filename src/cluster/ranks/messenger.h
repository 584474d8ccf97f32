/// Messages between the ranks of one training: their channels, and those under way.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/ranks/packet.h"
#include "cluster/ranks/transfer.h"
#include "cluster/usage/sent.h"
#include "record/timeline.h"

namespace simgrid::s4u {
class Mailbox;
}

namespace simgrad::cluster {

class ActorState;
class Traffic;
class World;

/// One direction between two ranks: where its messages meet their receivers, and its meter.
struct Channel {
  simgrid::s4u::Mailbox* mailbox = nullptr;  ///< null: the cluster has a network of its own
  const FlowRoute* route = nullptr;          ///< on that network; null: there is none, or both live on one host
  ParcelQueue waiting;
  int source = 0;
  int target = 0;
  bool local = false;  ///< both live on one host: nothing goes over a wire
  double most_bytes_per_s = std::numeric_limits<double>::infinity();  ///< of a flow on SimGrid's network
  Sent sent;
  /// The actors at its ends that called last; the ranks' main ones before. Null: one whose time is not kept.
  const ActorState* sender = nullptr;
  const ActorState* receiver = nullptr;
};

/// A packet on its way; lives until it has been received.
struct Message {
  Packet packet;
  Channel* channel = nullptr;
  AnyTransfer transfer;                    ///< the sender's; none once received, or once its host is gone
  bool counted = false;                    ///< its bytes are in the channel's meter
  record::Work work = record::Work::send;  ///< the named work that it is part of, where somebody records
  std::int64_t step = -1;                  ///< the sender's
};

class Messenger {
 public:
  explicit Messenger(World& world) : world_(world) {}

  Channel& channel(int generation, int source, int target);
  Message& new_message();
  /// Sends a message that has its channel and its packet.
  AnyTransfer send(Message& message);
  /// Receives the channel's next message.  landing: where its receiver will look for it.
  AnyTransfer receive(Channel& channel, Message** landing);
  /// Receives the channel's next message as soon as it has arrived. Only on a network of the cluster's own.
  AnyTransfer receive(Channel& channel, ParcelTaker& taker, std::size_t place);
  /// Keeps one that takes parcels as long as any may come.
  void keep(std::shared_ptr<ParcelTaker> taker) { takers_.push_back(std::move(taker)); }
  /// The packet of a message that has arrived.
  Packet take(Message& message);
  /// A place into which SimGrid puts a received message; it outlives the actor that waits for it.
  Message** new_landing();
  void release(Message** landing);

  /// All messages, those under way and those that are free again.
  const std::deque<Message>& messages() const { return messages_; }
  /// Whether this stands for a message that will never come.
  bool never_comes(const Message* message) const { return message == &nothing_; }

  /// Fails all transfers with these ranks that have not started.
  void break_off(const std::function<bool(int rank)>& lost);
  /// Gives the rank's new incarnation mailboxes with other names.
  void rename_mailboxes(int rank);
  /// Forgets the transfers of a host that is about to go down, as SimGrid does; one that has arrived may still be
  /// taken.
  void forget_host(int host);
  /// Takes the reference of an actor that has ended, or given up, before its transfer was over.
  void abandon(AnyTransfer transfer);
  /// Releases the references that were taken before now. SimGrid keeps the stacks of a transfer's actors as long as the
  /// transfer, and has ended it only with the date of its cancellation.
  void release_abandoned();
  /// Meters every transfer that started before this moment: it counts in full, whatever becomes of it.
  void count_started();
  /// As above, and drops all messages under way: they will never be taken.
  void drop_all();
  /// Posts what all channels have carried.
  void post(Traffic& traffic) const;

 private:
  void name_main_actors(Channel& channel) const;
  std::string mailbox_name(int generation, int source, int target) const;
  void count(Message& message);
  void count_if_started(Message& message);
  void release(Message& message);
  AnyTransfer meet(Channel& channel, bool receives, const std::function<void(Parcel&)>& fill);
  void unblock(int rank);

  struct Abandoned {
    AnyTransfer transfer;
    double at_s = 0.0;
  };

  World& world_;
  ParcelPool parcels_;  ///< outlives all that refer to them
  std::unordered_map<std::uint64_t, Channel> channels_;
  std::deque<Message> messages_;
  std::vector<Message*> free_messages_;
  std::deque<Message*> landings_;
  std::vector<Message**> free_landings_;
  std::deque<Abandoned> abandoned_;  ///< by time
  std::vector<std::shared_ptr<ParcelTaker>> takers_;
  Message nothing_;  ///< received instead of a message that will never come
};

}  // namespace simgrad::cluster
