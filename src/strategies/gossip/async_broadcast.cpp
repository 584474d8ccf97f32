#include "strategies/gossip/async_broadcast.h"

#include <memory>
#include <optional>
#include <utility>

#include "strategies/circumstances.h"
#include "strategies/gossip/async_replica.h"
#include "training/compressors/encoder.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;

namespace {

/// Beside an update: the updates of all replicas when its gradient's parameters were read.
struct ReadAt {
  std::int64_t updates = 0;
};

/// A rank's copy of the parameters, which its own updates and all others' change.
class BroadcastReplica final : public AsyncReplica {
 public:
  BroadcastReplica(const Worker& worker, const training::Compressor& compressor)
      : AsyncReplica(worker), P_(worker.workers()), encoder_(compressor, worker), count_age_(worker.counts_ages()) {
    decode_flops_ = encoder_.decode_flops(worker.comm(), worker.learning().parameters());
  }

  /// Applies its own update by that gradient. Returns the code to send of it: all replicas, this one too, add what is
  /// decoded.
  Tensor step(const Worker& worker, const Tensor& g) {
    const double first_round = static_cast<double>(state.step - applied_);
    const double round = first_round + static_cast<double>(applied_) / P_;
    const Tensor before = state.w;
    State stepped = state;
    worker.update_in_round(stepped, g, round);
    Tensor sent;
    if (P_ > 1) {
      sent = encoder_(worker.comm(), stepped.w - before);
      stepped.w = state.w + values::decoded(sent);  // others' updates have come in meanwhile
      stepped.step = state.step + 1;
    }
    state = std::move(stepped);
    ++applied_;
    return sent;
  }

  std::optional<Packet> take(const Communicator& beside, int peer, const Packet& came) override {
    beside.charge_reduction(absorb_flops(came), record::Work::update);
    absorb(peer, came);
    return {};
  }
  bool absorbs() const override { return true; }
  double absorb_flops(const Packet& came) const override {
    return decode_flops_ + static_cast<double>(came.tensor.size());
  }
  void absorb(int peer, const Packet& came) override {
    state.w += values::decoded(came.tensor);
    ++state.step;
    ++applied_;
    count_age_(peer, came.note<ReadAt>().updates);
    changed();
  }

 private:
  int P_;
  training::Encoder encoder_;
  Worker::CountAge count_age_;
  double decode_flops_ = 0.0;  ///< of an update's code
  std::int64_t applied_ = 0;   ///< its own updates and others'; P of them are a round
};

}  // namespace

Traits AsyncBroadcast::traits(int P) const {
  const std::int64_t pairs = static_cast<std::int64_t>(P) * (P - 1);
  return {.pace = Pace::own_pace,
          .asynchronous = true,
          .gradients_an_update = 0,
          .replicas_differ = true,
          .many_to_many = true,
          .pairs = pairs,
          .taking_actors = pairs,
          .recoveries = training::every_recovery()};
}

std::optional<Refusal> AsyncBroadcast::refusal(const Circumstances& circumstances) const {
  return compression_refusal(compression, circumstances);
}

void AsyncBroadcast::operator()(Worker& worker) const {
  std::vector<int> others;
  for (int j = 0; j < worker.workers(); ++j)
    if (j != worker.rank()) others.push_back(j);
  const auto replica = std::make_shared<BroadcastReplica>(worker, *compression);
  AsyncPeers peers(
      worker, replica, others, [&] { return others; }, AsyncPeers::Rejoin::when_answered);
  while (peers.continues()) {
    const std::int64_t read_at = worker.counted();
    const Tensor g = worker.gradient(replica->state.w);
    const Tensor update = replica->step(worker, g);
    worker.count(worker.counted() - read_at);
    peers.send_to_all(Packet(update, ReadAt{read_at}));
  }
}

}  // namespace simgrad::strategies
