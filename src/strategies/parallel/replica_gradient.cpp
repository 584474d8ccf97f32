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
using models::Among;
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

ReplicaGradient::ReplicaGradient(const Worker& worker, const Communicator& stages, const SharingRanks& sharing)
    : worker_(worker), stages_(stages), sharing_(sharing) {
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
  for (const Among among : {Among::tensor, Among::context, Among::expert}) sum_partial(chunk, segment, among);
  if (cache_) agree(chunk, segment);
  if (!ready_) return;
  const std::vector<models::Layer>& layers = worker_.learning().layers();
  const std::size_t first_layer = its.first_layer + its.segments[segment].first_layer;
  const Tensor so_far = gradient_->whole();
  for (std::size_t i = first_layer + its.segments[segment].layers; i-- > first_layer;)
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

/// Sums the gradients of a segment's own parameters of which each of the ranks that share it has a part.
void ReplicaGradient::sum_partial(std::size_t chunk, std::size_t segment, Among among) {
  const Communicator* const comm = sharing_.among(among);
  if (!comm) return;
  const std::vector<ParameterStretch> stretches = common_stretches(chunk, segment, worker_.part().partial(among));
  if (stretches.empty()) return;
  const training::AlongScope timed(worker_.mesh_time(), *comm, dimension_of(among));
  replace(stretches, collectives::Ring()(*comm, joined(stretches)));
}

/// Takes one gradient on all tensor ranks for a segment's own parameters that all of them hold.
void ReplicaGradient::agree(std::size_t chunk, std::size_t segment) {
  const auto stretches = common_stretches(chunk, segment, worker_.part().replicated(Among::tensor));
  if (!stretches.empty()) replace(stretches, cache_->agreed({chunk, segment}, joined(stretches)));
}

/// Sums the gradients of tied parameters, which two stages have, and reports their layers.
void ReplicaGradient::sum_tied() {
  if (!tied_) return;
  const ParameterStretch tied = worker_.part().tied();
  {
    const training::AlongScope timed(worker_.mesh_time(), *tied_, training::Dimension::pipeline);
    gradient_->replace(tied, collectives::Ring()(*tied_, gradient_->stretch(tied)));
  }
  if (!ready_) return;
  const std::vector<models::Layer>& layers = worker_.learning().layers();
  const Tensor g = gradient_->whole();
  for (std::size_t i = layers.size(); i-- > 0;)
    if (overlaps(tied, layers[i])) (*ready_)(g, layers[i]);
}

Tensor ReplicaGradient::squares(const Tensor& g, const Tensor& of_shards) const {
  const training::AlongScope timed(worker_.mesh_time(), worker_.comm());
  const Communicator stages = stages_.unrounded();
  Tensor sum = of_shards ? of_shards : training::sum_of_squares(g, counted_elsewhere());
  const collectives::RecursiveDoubling doubling;
  for (const Among among : {Among::tensor, Among::context, Among::expert})
    if (const Communicator* const comm = sharing_.among(among)) sum = doubling(comm->unrounded(), sum);
  return stages.size() > 1 ? doubling(stages, sum) : sum;
}

/// Numbers that other ranks of the replica count: replicated ones, and a copy.
std::vector<ParameterStretch> ReplicaGradient::counted_elsewhere() const {
  std::vector<ParameterStretch> elsewhere;
  const auto counted_by_first = [&](int rank, Among among) {
    const std::vector<ParameterStretch>& all = worker_.part().replicated(among);
    if (rank > 0) elsewhere.insert(elsewhere.end(), all.begin(), all.end());
  };
  const models::Chunk& chunk = worker_.part().chunks().front().chunk;
  counted_by_first(chunk.tensor_rank, Among::tensor);
  counted_by_first(chunk.context_rank, Among::context);
  counted_by_first(chunk.expert_rank, Among::expert);
  if (worker_.part().holds_copy()) elsewhere.push_back(worker_.part().tied());
  std::ranges::sort(elsewhere, {}, &ParameterStretch::first);
  return elsewhere;
}

}  // namespace simgrad::strategies
