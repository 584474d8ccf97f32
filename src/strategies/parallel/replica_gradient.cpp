#include "strategies/parallel/replica_gradient.h"

#include <algorithm>
#include <utility>

#include "collectives/butterfly.h"
#include "collectives/ring.h"
#include "training/learning/clipping.h"
#include "training/learning/learning.h"
#include "training/parts/along_scope.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::ParameterStretch;

namespace {

/// The stages that hold the tied parameters, the first and the last one.
std::optional<Communicator> tied_group(const Worker& worker, const Communicator& stages) {
  if (worker.part().tied().count == 0) return {};
  const std::vector<int> ends{0, stages.size() - 1};
  return stages.subgroup(ends);
}

bool overlaps(const ParameterStretch& stretch, const models::Layer& layer) {
  return stretch.first < layer.first + layer.count && layer.first < stretch.first + stretch.count;
}

}  // namespace

ReplicaGradient::ReplicaGradient(const Worker& worker, const Communicator& stages, std::optional<Communicator> tensor)
    : worker_(worker), stages_(stages), tensor_(std::move(tensor)) {
  if (stages.size() > 1) tied_ = tied_group(worker, stages_);
}

void ReplicaGradient::begin(bool followed, const Worker::LayerReady& ready) {
  ready_ = ready ? &ready : nullptr;
  gradient_.emplace(worker_, followed);
}

Tensor ReplicaGradient::finish() {
  sum_tied();
  Tensor g = gradient_->whole();
  gradient_.reset();
  return g;
}

void ReplicaGradient::add(std::size_t chunk, std::size_t segment, const Tensor& g, bool completes) {
  if (g) gradient_->add(chunk, segment, g);
  if (!completes) return;
  const models::PlacedChunk& its = worker_.part().chunks()[chunk];
  sum_partial(its.parameters[segment]);
  if (!ready_) return;
  const std::vector<models::Layer>& layers = worker_.learning().layers();
  const std::size_t first_layer = its.first_layer + its.segments[segment].first_layer;
  const Tensor so_far = gradient_->whole();
  for (std::size_t i = first_layer + its.segments[segment].layers; i-- > first_layer;)
    if (!tied_ || !overlaps(worker_.part().tied(), layers[i])) (*ready_)(so_far, layers[i]);
}

/// Sums over the tensor ranks the gradients in these stretches of which each has a part.
void ReplicaGradient::sum_partial(const std::vector<ParameterStretch>& within) {
  const auto is_in = [](const ParameterStretch& inner, const ParameterStretch& outer) {
    return inner.first >= outer.first && inner.first + inner.count <= outer.first + outer.count;
  };
  std::vector<ParameterStretch> stretches;
  for (const ParameterStretch& stretch : worker_.part().partial(models::Among::tensor))
    if (std::ranges::any_of(within, [&](const ParameterStretch& outer) { return is_in(stretch, outer); }))
      stretches.push_back(stretch);
  if (stretches.empty()) return;
  const training::AlongScope timed(worker_.mesh_use(), *tensor_, training::Dimension::tensor);
  std::vector<Tensor> parts;
  for (const ParameterStretch& stretch : stretches) parts.push_back(gradient_->stretch(stretch));
  const Tensor sum = collectives::Ring()(*tensor_, values::concatenate(parts));
  std::int64_t at = 0;
  for (const ParameterStretch& stretch : stretches) {
    gradient_->replace(stretch, values::slice(sum, at, stretch.count));
    at += stretch.count;
  }
}

/// Sums the gradients of tied parameters, which two stages have, and reports their layers.
void ReplicaGradient::sum_tied() {
  if (!tied_) return;
  const ParameterStretch tied = worker_.part().tied();
  {
    const training::AlongScope timed(worker_.mesh_use(), *tied_, training::Dimension::pipeline);
    gradient_->replace(tied, collectives::Ring()(*tied_, gradient_->stretch(tied)));
  }
  if (!ready_) return;
  const std::vector<models::Layer>& layers = worker_.learning().layers();
  const Tensor g = gradient_->whole();
  for (std::size_t i = layers.size(); i-- > 0;)
    if (overlaps(tied, layers[i])) (*ready_)(g, layers[i]);
}

Tensor ReplicaGradient::squares(const Tensor& g, const Tensor& of_shards) const {
  const Communicator stages = stages_.unrounded();
  Tensor sum = of_shards ? of_shards : training::sum_of_squares(counted_once(g));
  const collectives::RecursiveDoubling doubling;
  if (tensor_) sum = doubling(tensor_->unrounded(), sum);
  return stages.size() > 1 ? doubling(stages, sum) : sum;
}

/// The gradient without numbers that other ranks of the replica count: replicated ones, and a copy.
Tensor ReplicaGradient::counted_once(const Tensor& g) const {
  std::vector<ParameterStretch> elsewhere;
  if (worker_.part().chunks().front().chunk.tensor_rank > 0)
    elsewhere = worker_.part().replicated(models::Among::tensor);
  if (worker_.part().holds_copy()) elsewhere.push_back(worker_.part().tied());
  std::ranges::sort(elsewhere, {}, &ParameterStretch::first);
  std::vector<Tensor> own;
  std::int64_t at = 0;
  for (const ParameterStretch& stretch : elsewhere) {
    if (stretch.first > at) own.push_back(values::slice(g, at, stretch.first - at));
    at = stretch.first + stretch.count;
  }
  if (at < g.size() || own.empty()) own.push_back(values::slice(g, at, g.size() - at));
  return values::concatenate(own);
}

}  // namespace simgrad::strategies
