#include "strategies/gossip/async_replica.h"

#include <utility>

#include "cluster/ranks/ranks.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;

namespace {

/// The question of a rank that has come back. Its answer is the parameters as they are.
struct TellParameters {};

/// The replica with its first state, unless its rank has come back: then it has none yet.
std::shared_ptr<AsyncReplica> begun(const Worker& worker, std::shared_ptr<AsyncReplica> replica) {
  if (!worker.rejoins()) replica->state = worker.start();
  return replica;
}

cluster::Absorption absorption(const std::shared_ptr<AsyncReplica>& replica) {
  if (!replica->absorbs()) return {};
  return {.flops = [replica](const Packet& came) { return replica->absorb_flops(came); },
          .take = [replica](int peer, const Packet& came) { replica->absorb(peer, came); }};
}

}  // namespace

AsyncReplica::AsyncReplica(const Worker& worker) : show_(worker.shows()) {}

AsyncPeers::AsyncPeers(Worker& worker, std::shared_ptr<AsyncReplica> replica, std::vector<int> peers,
                       const std::function<std::vector<int>()>& tellers, Rejoin rejoin)
    : worker_(worker),
      replica_(begun(worker, std::move(replica))),
      peers_(std::move(peers)),
      responder_(
          worker.comm(), peers_,
          [shared = replica_](const Communicator& beside, int source, const Packet& came) {
            if (came.find_note<TellParameters>()) return std::optional(Packet(shared->state.w));
            return shared->state.w ? shared->take(beside, source, came)
                                   : shared->take_without_state(beside, source, came);
          },
          absorption(replica_)) {
  if (worker.rejoins()) replica_->state = rejoined_state(tellers, rejoin);
}

bool AsyncPeers::continues() const { return worker_.continues(replica_->state); }

State AsyncPeers::rejoined_state(const std::function<std::vector<int>()>& tellers, Rejoin rejoin) const {
  const std::int64_t asked_at = worker_.latest_step();
  const Tensor w = received_parameters(tellers());
  if (rejoin == Rejoin::when_asked) return worker_.start_alone(w ? w : worker_.start().w, asked_at);
  return w ? worker_.start_alone(w, worker_.latest_step()) : worker_.start();
}

Tensor AsyncPeers::received_parameters(const std::vector<int>& tellers) const {
  for (const int j : tellers) {
    if (!worker_.at_work(j)) continue;
    Pending telling = worker_.comm().start_receive(j);
    Pending asking = start_send(j, Packet({}, TellParameters()));
    if (asking.under_way()) asking.wait_unless_lost();
    if (const auto told = telling.wait_unless_lost(); told && told->tensor) return told->tensor;
  }
  return {};
}

void AsyncPeers::send_to_all(const Packet& packet) {
  cluster::wait_for_sends(sends_);
  for (const int j : peers_) sends_.push_back(start_send(j, packet));
  cluster::yield();  // ranks that step at one instant all count their updates before any of them goes on
}

}  // namespace simgrad::strategies
