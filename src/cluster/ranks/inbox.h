/// Receiving from any of many members, in the order of arrival.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cluster/ranks/account.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/peer_actors.h"

namespace simgrad::cluster {

class Storage;

/// Receives from many members at once, each member's messages in the order in which they were sent, and those of
/// different members in the order of completion. A receive a member (or several) is posted ahead at all times, so that
/// a busy server's link still fills.
///
/// Under recovery = "continue" nothing is received from a lost member until it is back.
class Inbox {
 public:
  enum class OnLoss { silent, reported };
  /// Starts to receive from members first .. first + count - 1.  on_loss: whether an arrival reports that a member is
  /// known to be lost.  ahead: receives that are posted for each member.
  Inbox(const Communicator& communicator, int first, int count, OnLoss on_loss = OnLoss::silent, int ahead = 1);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  struct Arrival {
    int source = 0;
    Packet packet;
    bool lost = false;  ///< no message: the source is lost
  };
  /// Blocks until a message has come in.
  Arrival next();
  /// As above, but blocks until that time at the latest; nothing if no message has come in.
  std::optional<Arrival> next_until(double virtual_s);
  /// Computes, but gives up when a message comes in or is there already. Returns whether it finished.
  /// Virtual time: the flops', at the rank's speed, or until the message. The rank is alone on its cores.
  bool compute(double flops);
  /// As compute(), of reading so many bytes from a storage, or of writing them there.
  bool use_storage(const Storage& storage, std::int64_t bytes);

 private:
  struct Queue;
  /// Queues an arrival, for which the rank may be waiting: from now on it is not stuck.
  static void put(const Communicator& communicator, Queue& queue, Arrival arrival, double transfer_start_s);
  /// Receives from a member, for ever.
  PeerActors::Body body(int member, int ahead) const;
  std::optional<Arrival> take(std::optional<double> timeout_s);
  bool undisturbed_for(double seconds);
  int world_rank() const { return communicator_.world_rank(communicator_.rank()); }

  const Communicator& communicator_;
  std::shared_ptr<Queue> queue_;
  std::optional<PeerActors> receivers_;  ///< none on a cluster with a network of its own
};

}  // namespace simgrad::cluster
