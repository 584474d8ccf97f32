/// An ordered group of ranks that send to and receive from each other, in MPI's sense.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/ranks/packet.h"
#include "cluster/ranks/peer_lost.h"
#include "cluster/ranks/pending.h"
#include "record/timeline.h"
#include "values/tensor.h"

namespace simgrad::cluster {

class ActorState;
class CollectiveCalls;
class CollectiveTiming;
class World;
struct CollectivePhases;
struct LocalGroups;
struct AlphaBetaGamma;
struct Channel;

/// One member's view of a group. Messages between two members arrive in the order sent; a transfer starts when both
/// sides have called (rendezvous), and takes what the network model says for the tensor's bytes.
///
/// A communicator is one generation: after a failure the recovery driver makes a new one, so that no message of the old
/// generation is ever received in the new one.
class Communicator {
 public:
  using Members = std::shared_ptr<const std::vector<int>>;

  /// members: world ranks; position is this member's place among them.
  Communicator(World& world, Members members, int position, int generation);

  int rank() const { return position_; }
  int size() const { return static_cast<int>(members_->size()); }
  int world_rank(int member) const { return (*members_)[static_cast<std::size_t>(member)]; }
  World& world() const { return *world_; }
  /// Equal for members near each other: on devices of one machine, on hosts of one rack.
  int locality(int member) const;
  /// The members by locality.
  const LocalGroups& local_groups() const;
  double now() const;

  /// x as it travels: rounded to the world's format for messages if its own is a longer one. Codes stay as they are.
  values::Tensor on_wire(values::Tensor x) const;

  /// Blocks until the transfer is over. Errors: PeerLost.
  void send(int target, Packet packet) const { start_send(target, std::move(packet)).wait(); }
  Packet receive(int source) const { return start_receive(source).wait(); }
  /// Sends to one member while receiving from another (or the same).
  Packet exchange(Packet packet, int target, int source) const;

  [[nodiscard]] Pending start_send(int target, Packet packet) const;
  [[nodiscard]] Pending start_receive(int source) const;
  /// Receives a member's next message as soon as it has arrived. Only on a cluster with a network of its own.
  void receive_next(int source, ParcelTaker& taker, std::size_t place) const;

  bool alive(int member) const;
  /// As start_send; sends nothing if the target is lost under recovery = "continue". Otherwise: PeerLost.
  [[nodiscard]] Pending start_send_unless_lost(int target, Packet packet) const;
  /// Blocks until the loss of the member is known, cluster.failures.detection after its crash.
  void await_detection(int member) const;

  /// Charges additions, averages or updates of this rank: flops at its host's speed, or nothing where the scenario
  /// makes them free.
  void charge_reduction(double flops, record::Work work = record::Work::reduce) const;
  /// Charges work of so many flops that reads and writes so many bytes of memory: on a device the bytes / its memory's
  /// bandwidth, else the flops as above.
  void charge_memory(double bytes, double flops, record::Work work) const;
  /// The flops of a reduction that takes as long as such work.
  double reduction_of_memory(double bytes, double flops) const;
  /// The state of the calling actor, for the scopes that account for its time; null: not kept.
  ActorState* actor() const { return actor_; }
  /// The calling actor cannot go on without that member. Unless recovery = "continue" it stands still until all ranks
  /// are stopped: actors beside it use what it holds.  Errors: PeerLost, under "continue" or where no training runs.
  [[noreturn]] void lose(int member) const;

  /// Whether a collective may be computed at its last arrival instead of being sent message by message.
  bool may_compute() const;
  /// Whether a member may die in a collective: then it is computed only if its timing knows deaths.
  bool hosts_may_fail() const;
  /// Whether all members are equally far from each other; see Options::alike_routes.
  bool alike_routes() const;
  /// Blocks until all members have called, then until the end time computed for this member; returns its result.  Every
  /// member must pass the same schedule.
  values::Tensor compute_together(const std::function<std::shared_ptr<const CollectiveTiming>()>& timing,
                                  values::Tensor brought) const;
  /// Runs a computed collective whose schedule has phases.  key: equal for calls whose phases are equal.
  values::Tensor compute_in_phases(const std::function<std::string()>& key,
                                   const std::function<CollectivePhases()>& phases, values::Tensor brought) const;
  /// The calls of a collective among the members, for the record: each member says when it calls and when it returns.
  /// name: the algorithm.  bytes: of one member's input.  alone_s: the time of one call on an idle network when all
  /// members call at once.
  CollectiveCalls& collective(std::string_view name, std::int64_t bytes,
                              const std::function<double(const AlphaBetaGamma&)>& alone_s) const;

  /// A smaller group, of the members at these positions, in that order; this member is one of them.
  Communicator subgroup(std::span<const int> positions) const;
  /// This member for a side actor, whose time goes into `actor`; null: nowhere.
  Communicator for_side_actor(ActorState* actor = nullptr) const;
  /// This member, whose messages keep all digits of their numbers.
  Communicator unrounded() const;
  /// This member on channels of their own: a message sent on them is received on them alone.
  Communicator on_own_channels() const;

 private:
  using Channels = std::vector<std::pair<int, Channel*>>;

  Channel& to(int target) const;
  Channel& from(int source) const;
  void require_alive(int member) const;
  /// Computes as long as so many flops take, and counts the others.
  void charge_time_of(double flops_of_time, double flops, record::Work work) const;
  void let_others_go_on() const;

  World* world_;
  Members members_;
  int position_;
  int generation_;
  ActorState* actor_;
  bool rounds_ = true;                 ///< whether messages have the world's format
  bool main_ = true;                   ///< whether the calling actor is the rank's main one
  mutable double last_call_s_ = -1.0;  ///< when it last sent or received
  mutable Channels outgoing_;          ///< by target, those used so far
  mutable Channels incoming_;
};

}  // namespace simgrad::cluster
