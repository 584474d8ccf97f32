#include "strategies/gossip/async_broadcast.h"

#include <utility>

#include "cluster/ranks/responder.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using cluster::Responder;

namespace {

/// A rank's copy of the parameters, which its own updates and all others' change.
struct BroadcastReplica {
  BroadcastReplica(const Worker& worker, const training::Compressor& compressor)
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
  std::int64_t applied = 0;  ///< updates, its own and others'; P of them are a round

  void begin(State start) {
    first_round = static_cast<double>(start.step);
    state = std::move(start);
  }
  /// Its own update by that gradient. Returns what to send of it, of which all replicas, this one too, add what is
  /// decoded.
  Tensor step(const Communicator& comm, const Tensor& g) {
    const double round = first_round + static_cast<double>(applied) / P;
    if (P == 1) {
      Worker::update_beside(comm, training, state, g, round);
      ++applied;
      return {};
    }
    State stepped = state;  // others' updates come in meanwhile
    const Tensor before = stepped.w;
    Worker::update_beside(comm, training, stepped, g, round);
    const Tensor sent = code(comm, stepped.w - before);
    stepped.w = state.w + values::decoded(sent);
    stepped.step = state.step + 1;
    state = std::move(stepped);
    ++applied;
    return sent;
  }
  /// In the actor that listens: another's update, or the question of somebody who has come back.
  std::optional<Packet> take(const Communicator& beside, const Packet& came) {
    if (!came.tensor) return Packet(state.w);
    if (!state.w) return {};  // it has come back, and is told what holds that update already
    const Tensor update = code.decoded(beside, came.tensor);
    beside.charge_reduction(static_cast<double>(update.size()), record::Work::update);
    state.w += update;
    ++state.step;
    ++applied;
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
  const auto replica = std::make_shared<BroadcastReplica>(worker, *compression);
  State start = worker.start();
  if (!worker.rejoins()) replica->begin(std::move(start));  // before anything comes in
  const Responder responder(comm, others, [replica](const Communicator& beside, int, const Packet& came) {
    return replica->take(beside, came);
  });
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
    replica->begin(std::move(start));
  }
  std::vector<Pending> sends;
  while (worker.continues(replica->state)) {
    const std::int64_t read_at = replica->applied;
    const Tensor g = worker.gradient(replica->state.w);
    const Tensor sent = replica->step(comm, g);
    worker.count(replica->applied - 1 - read_at);
    for (Pending& send : sends)
      if (send.under_way()) send.wait_unless_lost();
    sends.clear();
    for (const int j : others) sends.push_back(responder.start_send(j, Packet(sent)));
  }
}

}  // namespace simgrad::strategies
