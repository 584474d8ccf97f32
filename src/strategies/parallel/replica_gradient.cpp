#include "strategies/parallel/replica_gradient.h"

#include <algorithm>
#include <utility>

#include "collectives/ring.h"
#include "training/learning/learning.h"
#include "training/parts/along_scope.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::Among;
using models::ParameterStretch;
using training::Dimension;

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

ReplicaGradient::ReplicaGradient(const Worker& worker, const Communicator& stages, const SharingRanks& sharing)
    : worker_(worker), stages_(stages), sharing_(sharing) {
  for (const Among among : {Among::tensor, Among::context, Among::expert}) {
    if (!sharing.among(among)) continue;
    if (!worker.workers_along(dimension_of(among))) with_other_norms_.push_back(among);
    if (!worker.sums_along(dimension_of(among))) summed_here_.push_back(among);
  }
  if (stages.size() > 1) tied_ = tied_group(worker, stages_);
}

void ReplicaGradient::begin(bool followed, const Worker::LayerReady& ready) {
  ready_ = ready ? &ready : nullptr;
  gradient_.emplace(worker_, followed);
}

Tensor ReplicaGradient::finish() {
  if (!ready_) sum_shared();
  sum_tied();
  Tensor g = gradient_->whole();
  gradient_.reset();
  return g;
}

void ReplicaGradient::add(std::size_t chunk, std::size_t segment, const Tensor& g, bool completes) {
  if (g) gradient_->add(chunk, segment, g);
  if (!completes) return;
  const models::PlacedChunk& placed_chunk = worker_.part().chunks()[chunk];
  for (const Among among : summed_here_)
    if (ready_ || among == Among::tensor) sum_partial(chunk, segment, among);
  if (cache_) agree(chunk, segment);
  if (!ready_) return;
  const std::vector<models::Layer>& layers = worker_.learning().layers();
  const std::size_t first_layer = placed_chunk.first_layer + placed_chunk.segments[segment].first_layer;
  const Tensor so_far = gradient_->whole();
  for (std::size_t i = first_layer + placed_chunk.segments[segment].layers; i-- > first_layer;)
    if (!tied_ || !overlaps(worker_.part().tied(), layers[i])) (*ready_)(so_far, layers[i]);
}

/// The stretches of a segment's own parameters that are among those.
std::vector<ParameterStretch> ReplicaGradient::common_stretches(std::size_t chunk, std::size_t segment,
                                                                const std::vector<ParameterStretch>& of_all) const {
  std::vector<ParameterStretch> stretches;
  for (const ParameterStretch& own : worker_.part().chunks()[chunk].own_parameters(segment))
    for (const ParameterStretch& one : of_all)
      if (const ParameterStretch both = common(own, one); both.count > 0) stretches.push_back(both);
  return stretches;
}

Tensor ReplicaGradient::joined(const std::vector<ParameterStretch>& stretches) const {
  std::vector<Tensor> parts;
  for (const ParameterStretch& stretch : stretches) parts.push_back(gradient_->stretch(stretch));
  return values::concatenate(parts);
}

void ReplicaGradient::replace(const std::vector<ParameterStretch>& stretches, const Tensor& g) {
  std::int64_t at = 0;
  for (const ParameterStretch& stretch : stretches) {
    gradient_->replace(stretch, values::slice(g, at, stretch.count));
    at += stretch.count;
  }
}

/// Sums the gradients of tied parameters, which two stages have, and reports their layers.
void ReplicaGradient::sum_tied() {
  if (!tied_) return;
  const ParameterStretch tied = worker_.part().tied();
  {
    const training::AlongScope timed(worker_.mesh_time(), *tied_, Dimension::pipeline);
    gradient_->replace(tied, collectives::Ring()(*tied_, gradient_->stretch(tied)));
  }
  if (!ready_) return;
  const std::vector<models::Layer>& layers = worker_.learning().layers();
  const Tensor g = gradient_->whole();
  for (std::size_t i = layers.size(); i-- > 0;)
    if (overlaps(tied, layers[i])) (*ready_)(g, layers[i]);
}

}  // namespace simgrad::strategies
