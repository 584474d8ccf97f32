/// The sums of a gradient within a replica, and its norm.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "collectives/butterfly.h"
#include "collectives/ring.h"
#include "strategies/parallel/replica_gradient.h"
#include "training/learning/clipping.h"
#include "training/parts/along_scope.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::Among;
using models::ParameterStretch;
using training::Dimension;

namespace {

/// Removes stretches, each of which is a part of one of `all`, and returns the rest.
std::vector<ParameterStretch> without(const std::vector<ParameterStretch>& all, std::vector<ParameterStretch> taken) {
  std::ranges::sort(taken, {}, &ParameterStretch::first);
  std::vector<ParameterStretch> left;
  for (const ParameterStretch& stretch : all) {
    std::int64_t at = stretch.first;
    const std::int64_t end = stretch.first + stretch.count;
    for (const ParameterStretch& removed : taken) {
      if (removed.first < at || removed.first >= end) continue;
      if (removed.first > at) left.push_back({at, removed.first - at});
      at = removed.first + removed.count;
    }
    if (at < end) left.push_back({at, end - at});
  }
  return left;
}

}  // namespace

/// Sums the gradients of a segment's own parameters of which each of the ranks that share it has a part.
void ReplicaGradient::sum_partial(std::size_t chunk, std::size_t segment, Among among) {
  const Communicator* const comm = sharing_.among(among);
  if (!comm) return;
  const std::vector<ParameterStretch> stretches = common_stretches(chunk, segment, worker_.part().partial(among));
  if (stretches.empty()) return;
  const training::AlongScope timed(worker_.mesh_time(), *comm, dimension_of(among));
  replace(stretches, collectives::Ring()(*comm, joined(stretches)));
}

/// Sums the gradients of the whole part, once over all ranks of the replica that have the same parameters: experts are
/// different ones on the ranks along `expert`.
void ReplicaGradient::sum_shared() {
  const auto here = [&](Among among) { return std::ranges::find(summed_here_, among) != summed_here_.end(); };
  const bool context = here(Among::context), expert = here(Among::expert);
  if (!context && !expert) return;
  std::vector<ParameterStretch> all, in_common;
  for (std::size_t chunk = 0; chunk < worker_.part().chunks().size(); ++chunk)
    for (std::size_t segment = 0; segment < worker_.part().chunks()[chunk].segments.size(); ++segment) {
      std::ranges::copy(worker_.part().chunks()[chunk].own_parameters(segment), std::back_inserter(all));
      std::ranges::copy(common_stretches(chunk, segment, worker_.part().partial(Among::expert)),
                        std::back_inserter(in_common));
    }
  if (!expert) return sum(all, {Dimension::context});
  if (!context) return sum(in_common, {Dimension::expert});
  sum(in_common, {Dimension::context, Dimension::expert});
  sum(without(all, in_common), {Dimension::context});
}

void ReplicaGradient::sum(const std::vector<ParameterStretch>& stretches, const std::vector<Dimension>& along) {
  if (stretches.empty()) return;
  const Communicator everyone = worker_.everyone();
  const Communicator comm = everyone.subgroup(worker_.mesh().group(everyone.rank(), along));
  const training::AlongScope timed(worker_.mesh_time(), comm, along.front());
  replace(stretches, collectives::Ring()(comm, joined(stretches)));
}

/// Takes one gradient on all tensor ranks for a segment's own parameters that all of them hold.
void ReplicaGradient::agree(std::size_t chunk, std::size_t segment) {
  const auto stretches = common_stretches(chunk, segment, worker_.part().replicated(Among::tensor));
  if (!stretches.empty()) replace(stretches, cache_->agreed({chunk, segment}, joined(stretches)));
}

Tensor ReplicaGradient::squares(const Tensor& g, const Tensor& of_shards) const {
  const training::AlongScope timed(worker_.mesh_time(), worker_.comm());
  const Communicator stages = stages_.unrounded();
  Tensor sum = of_shards ? of_shards : training::sum_of_squares(g, counted_elsewhere());
  const collectives::RecursiveDoubling doubling;
  for (const Among among : with_other_norms_) sum = doubling(sharing_.among(among)->unrounded(), sum);
  return stages.size() > 1 ? doubling(stages, sum) : sum;
}

/// Numbers that other ranks of the replica count: those that these hold, too, and a copy. Ranks that are workers of the
/// same parameters count for themselves.
std::vector<ParameterStretch> ReplicaGradient::counted_elsewhere() const {
  std::vector<ParameterStretch> elsewhere;
  const models::Chunk& chunk = worker_.part().chunks().front().chunk;
  for (const Among among : with_other_norms_) {
    const std::array ranks{chunk.tensor_rank, chunk.context_rank, chunk.expert_rank};
    const std::vector<ParameterStretch>& all = worker_.part().replicated(among);
    if (ranks[static_cast<std::size_t>(among)] > 0) elsewhere.insert(elsewhere.end(), all.begin(), all.end());
  }
  if (worker_.part().holds_copy()) elsewhere.push_back(worker_.part().tied());
  std::ranges::sort(elsewhere, {}, &ParameterStretch::first);
  return elsewhere;
}

}  // namespace simgrad::strategies
