/// An ordered group of ranks that send to and receive from each other, in MPI's sense.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/computed/collective_log.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

class Communicator;
class CollectiveTiming;
struct AlphaBetaGamma;

/// A transfer under way; wait() blocks in virtual time until it is over. It must not outlive its communicator.
///
/// One that is dropped before it is over, as its actor ends, is kept by SimGrid's count of references for the life of
/// the process: the world still asks when it started, and SimGrid prints a backtrace for a transfer destroyed in
/// flight.
class Pending {
 public:
  Pending() = default;
  Pending(Pending&& other) noexcept;
  Pending& operator=(Pending&& other) noexcept;
  ~Pending();

  /// What was received; an empty packet for a send. Errors: PeerLost.
  Packet wait();
  /// The same; nothing if the peer is lost, where failures stop nobody else. Elsewhere: PeerLost.
  std::optional<Packet> wait_unless_lost();
  /// Whether wait() is still to be called.
  bool under_way() const { return transfer_ != nullptr; }
  /// After wait(): when the transfer started.
  double start_s() const { return start_s_; }

 private:
  friend class Communicator;
  Pending(const Communicator& communicator, int peer);

  const Communicator* communicator_ = nullptr;  ///< outlives its transfers
  simgrid::s4u::Comm* transfer_ = nullptr;
  Message** landing_ = nullptr;  ///< of a receive
  int peer_ = -1;
  int incarnation_ = 0;     ///< of the peer
  std::int64_t bytes_ = 0;  ///< of a send
  double start_s_ = -1.0;
};

/// One member's view of a group. Messages between two members arrive in the order sent; a transfer starts when both
/// sides have called (rendezvous), and takes what the network model says for the tensor's bytes.
///
/// A communicator is one generation: after a failure the recovery driver makes a new one, so that no message of the old
/// world is ever received in the new.
class Communicator {
 public:
  using Members = std::shared_ptr<const std::vector<int>>;

  /// members: world ranks; position is this member's place among them.
  Communicator(World& world, Members members, int position, int generation);

  int rank() const { return position_; }
  int size() const { return static_cast<int>(members_->size()); }
  int world_rank(int member) const { return (*members_)[static_cast<std::size_t>(member)]; }
  World& world() const { return *world_; }
  /// Equal for members on one machine.
  int locality(int member) const;
  double now() const { return world_->now(); }

  /// Blocks until the transfer is over. Errors: PeerLost.
  void send(int target, Packet packet) const { start_send(target, std::move(packet)).wait(); }
  Packet receive(int source) const { return start_receive(source).wait(); }
  /// Sends to one member while receiving from another (or the same).
  Packet exchange(Packet packet, int target, int source) const;

  [[nodiscard]] Pending start_send(int target, Packet packet) const;
  [[nodiscard]] Pending start_receive(int source) const;

  bool alive(int member) const { return world_->alive(world_rank(member)); }
  /// As start_send; nothing is under way if the target is lost, where failures stop nobody else. Elsewhere: PeerLost.
  [[nodiscard]] Pending start_send_unless_lost(int target, Packet packet) const;
  /// Blocks until everybody knows that the member was lost: cluster.failures.detection after its crash.
  void await_detection(int member) const;

  /// This rank adds, averages or updates: flops at its host's speed, or nothing where the scenario makes it free.
  void charge_reduction(double flops, record::Work what = record::Work::reduce) const;
  /// Of the actor that calls, where its time is recorded; else null.
  Track* track() const { return activity_ ? activity_->account.track() : nullptr; }
  /// Whether that one is between two things that take time.
  bool idle() const { return activity_ && activity_->account.state() == Account::State::waiting; }

  /// Whether a collective may be computed at its last arrival instead of being sent message by message.
  bool may_compute() const { return main_ && world_->uncontended(); }
  /// All members come together, each bringing an array; everyone goes on when the course says, with what it says. All
  /// members make the same course.
  values::Tensor compute_together(const std::function<std::shared_ptr<const CollectiveTiming>()>& course,
                                  values::Tensor brought) const;

  /// The calls of a collective among the members, for the record: each says when it comes and when it is through.
  /// name: the algorithm.  bytes: that a member brings.  alone_s: what one call takes on an idle costs, all coming
  /// together.
  CollectiveLog::Calls& collective(std::string_view name, std::int64_t bytes,
                                   const std::function<double(const AlphaBetaGamma&)>& alone_s) const;

  /// A smaller group, of the members at these positions, in that order; this member is one of them.
  Communicator subgroup(std::span<const int> positions) const;
  /// The same member for an actor beside its main one. That one's time goes into `activity`; null: nowhere.
  Communicator for_side_actor(ActorState* activity = nullptr) const;
  /// The same member on channels of their own: what is sent on them is received on them alone.
  Communicator on_own_channels() const;

 private:
  friend class Pending;
  friend class Inbox;
  friend class SideStream;
  friend class Storage;
  using Channels = std::vector<std::pair<int, Channel*>>;

  Channel& to(int target) const;
  Channel& from(int source) const;
  void require_alive(int member) const;
  double block_on(simgrid::s4u::Comm& transfer, BlockedOn::Kind kind, int peer, Message* const* landing,
                  std::int64_t bytes) const;
  Packet take(Message& message) const;

  World* world_;
  Members members_;
  int position_;
  int generation_;
  ActorState* activity_;       ///< of the actor that calls; null: not kept
  bool main_ = true;           ///< whether that is the rank's main one
  mutable Channels outgoing_;  ///< by target, those used so far
  mutable Channels incoming_;
};

}  // namespace simgrad::cluster
