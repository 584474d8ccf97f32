#include "strategies/async_broadcast.h"

#include <utility>

#include "cluster/responder.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using cluster::Responder;

namespace {

/// A rank's copy of the parameters, which its own gradients and all others' change.
struct Replica {
  Replica(const Worker& worker, const training::Compressor& compressor)
      : training(worker.training()),
        rank(worker.comm().world_rank(worker.comm().rank())),
        P(worker.workers()),
        code(compressor, worker) {}

  training::Training& training;
  int rank;
  int P;
  training::Encoder code;
  State state = {};
  double first_round = 0.0;
  std::int64_t applied = 0;  ///< gradients, its own and others'; P of them are a round

  void apply(const Communicator& by, const Tensor& g) {
    Worker::update_beside(by, training, state, g, first_round + static_cast<double>(applied) / P);
    ++applied;
  }
  /// In the actor that listens: another's gradient, or the question of somebody who has come back.
  std::optional<Packet> take(const Communicator& beside, const Packet& came) {
    if (!came.tensor) return Packet(state.w);
    if (!state.w) return {};
    apply(beside, code.decoded(beside, came.tensor));
    training.show(rank, state);
    return {};
  }
};

}  // namespace

void AsyncBroadcast::operator()(Worker& worker) const {
  const Communicator& comm = worker.comm();
  const int P = worker.workers();
  std::vector<int> others;
  for (int j = 0; j < P; ++j)
    if (j != comm.rank()) others.push_back(j);
  // The actors that apply may outlive this one for a moment, when it loses a peer.
  const auto replica = std::make_shared<Replica>(worker, *compression);
  const Responder responder(comm, others, [replica](const Communicator& beside, int, const Packet& came) {
    return replica->take(beside, came);
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
    const Tensor sent = others.empty() ? g : replica->code(comm, g);
    replica->apply(comm, values::decoded(sent));
    worker.count(replica->applied - 1 - read_at);
    for (Pending& send : sends)
      if (send.under_way()) send.wait_unless_lost();
    sends.clear();
    for (const int j : others) sends.push_back(responder.start_send(j, Packet(sent)));
  }
}

}  // namespace simgrad::strategies
