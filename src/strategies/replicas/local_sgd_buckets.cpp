#include "strategies/replicas/local_sgd_buckets.h"

#include <algorithm>
#include <utility>

#include "strategies/buckets/state_pieces.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;

LocalSgd::AveragingStep::AveragingStep(const LocalSgd& options, Worker& worker, CompressedSum& moves)
    : options_(options), worker_(worker), moves_(moves), beside_(worker.comm()) {
  const std::vector<models::Layer>& layers = worker.learning().layers();
  buckets_ = buckets_of(layers, options.bucket_bytes, bytes_on_wire(worker.number_bytes(), *options.compression));
  if (worker.rank() == 0 && layers.size() == 1) note_single_bucket(worker);
}

void LocalSgd::AveragingStep::start(const Tensor& w, const Tensor& begun, std::int64_t first) {
  if (moves_.exact()) {
    beside_.start(
        [this, w](const Communicator& comm) { return (*options_.algorithm)(comm, w, collectives::Reduction::mean); });
    return;
  }
  beside_.start([this, w, begun, first](const Communicator& comm) {
    comm.charge_reduction(3.0 * static_cast<double>(w.size()), record::Work::update);
    return values::add_scaled(begun, 1.0 / worker_.workers(), moves_(comm, w - begun, first));
  });
}

void LocalSgd::AveragingStep::operator()(State& state) {
  std::vector<std::int64_t> lengths;
  for (const Stretch& bucket : buckets_) lengths.push_back(bucket.count);
  std::vector<Tensor> own = std::exchange(state.own, {});
  StatePieces pieces(state, lengths);
  std::size_t left = buckets_.size();
  worker_.gradient(state.w, [&](const Tensor& g, const models::Layer& layer) {
    // Layers without parameters may stand in front of the first bucket.
    if (left == 0 || layer.first != buckets_[left - 1].first) return;
    const Stretch& bucket = buckets_[--left];
    worker_.update(pieces[left], static_cast<double>(worker_.workers()) * values::slice(g, bucket.first, bucket.count));
    start(pieces[left].w, own.empty() ? Tensor() : values::slice(own[begun_at], bucket.first, bucket.count),
          bucket.first);
  });
  std::vector<Tensor> averaged = beside_.wait_for_all();
  std::ranges::reverse(averaged);
  state = pieces.joined();
  state.w = values::concatenate(averaged);
  state.own = std::move(own);
  if (!moves_.exact() && !options_.slow()) state.own[begun_at] = state.w;
}

}  // namespace simgrad::strategies
