#include "strategies/async_broadcast.h"

#include <utility>

#include "cluster/responder.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using cluster::Responder;

namespace {

/// A rank's copy of the parameters, which its own gradients and all others' change.
struct Replica {
  State state;
  double first_round = 0.0;
  std::int64_t applied = 0;  ///< gradients, its own and others'

  /// P of them are a round.
  double rounds(int P) const { return first_round + static_cast<double>(applied) / P; }
};

}  // namespace

void AsyncBroadcast::operator()(Worker& worker) const {
  const Communicator& comm = worker.comm();
  const int P = worker.workers();
  std::vector<int> others;
  for (int j = 0; j < P; ++j)
    if (j != comm.rank()) others.push_back(j);
  const auto replica = std::make_shared<Replica>();  // the actors that apply may live on for a moment
  const Responder responder(comm, others, [replica, &worker, P](const Communicator& beside, int, const Packet& came) -> std::optional<Packet> {
    State& state = replica->state;
    if (!came.tensor) return Packet(state.w);  // somebody has come back
    if (!state.w) return {};
    worker.update_beside(beside, state, came.tensor, replica->rounds(P));
    ++replica->applied;
    worker.training().show(worker.comm().world_rank(worker.comm().rank()), state);
    return {};
  });
  State start = worker.start();
  if (worker.rejoins()) {
    for (const int j : others) {
      if (!comm.alive(j) || !worker.training().active(comm.world_rank(j))) continue;
      Pending telling = comm.start_receive(j);
      Pending asking = responder.start_send(j, Packet());
      if (asking.under_way()) asking.wait_unless_lost();
      const auto told = telling.wait_unless_lost();
      if (!told || !told->tensor) continue;
      start = worker.start_alone(told->tensor, worker.training().latest_step());
      break;
    }
  }
  replica->first_round = static_cast<double>(start.step);
  replica->state = std::move(start);
  std::vector<Pending> sends;
  while (worker.continues(replica->state)) {
    const std::int64_t read_at = replica->applied;
    const Tensor g = worker.gradient(replica->state.w);
    worker.update_beside(comm, replica->state, g, replica->rounds(P));
    worker.count(replica->applied++ - read_at);
    for (Pending& send : sends)
      if (send.under_way()) send.wait_unless_lost();
    sends.clear();
    for (const int j : others) sends.push_back(responder.start_send(j, Packet(g)));
  }
}

}  // namespace simgrad::strategies
