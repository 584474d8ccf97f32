#include "strategies/parallel/tensor_weights.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "base/errors.h"
#include "strategies/parallel/stage_memory.h"
#include "training/learning/layer_times.h"

namespace simgrad::strategies {

using training::Dimension;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The least that the ranks with a part have, by stage and tensor rank.
TensorWeights least_of_parts(const Parallel& parallel, std::int64_t workers,
                             const std::function<double(const RankPower&)>& has) {
  base::check(std::cmp_greater_equal(parallel.powers.size(), workers), "the powers of all ranks are known");
  const training::Mesh mesh = parallel.mesh(workers);
  TensorWeights least(static_cast<std::size_t>(parallel.pipeline),
                      std::vector<double>(static_cast<std::size_t>(parallel.tensor), infinite));
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    const training::MeshPlace place = mesh.place(rank);
    double& part_least =
        least[static_cast<std::size_t>(place[Dimension::pipeline])][static_cast<std::size_t>(place[Dimension::tensor])];
    part_least = std::min(part_least, has(parallel.powers[static_cast<std::size_t>(rank)]));
  }
  return least;
}

/// The shares of a stage's tensor ranks, and the memory that these then need.
class SharesOfStage {
 public:
  SharesOfStage(const StageMemory& memory, const Parallel& parallel, const std::vector<std::int64_t>& firsts,
                std::size_t stage)
      : memory_(memory), parallel_(parallel), firsts_(firsts), stage_(static_cast<int>(stage)) {}

  std::vector<double> within(const std::vector<double>& by_speed, const std::vector<double>& limits) const {
    std::vector<double> weights = by_speed, bounds(by_speed.size(), infinite);
    for (std::size_t round = 0; round < 4 * by_speed.size(); ++round) {
      bool fits = true;
      for (std::size_t rank = 0; rank < weights.size(); ++rank) {
        if (!(limits[rank] < infinite) || needed(weights, rank) <= limits[rank]) continue;
        bounds[rank] = most_that_fits(weights, rank, limits[rank]);
        fits = false;
      }
      if (fits) return weights;
      weights = bounded(by_speed, bounds);
      if (weights.empty()) break;
    }
    return by_speed;
  }

 private:
  double needed(const std::vector<double>& weights, std::size_t rank) const {
    training::MeshPlace place;
    place[Dimension::pipeline] = stage_;
    place[Dimension::tensor] = static_cast<int>(rank);
    return memory_.of(stage_, chunks_at(parallel_, firsts_, place, weights)).sum();
  }
  /// The largest share of a rank that fits, if the others keep their proportions.
  double most_that_fits(const std::vector<double>& weights, std::size_t rank, double limit) const {
    constexpr int halvings = 30;
    double fits = 0.0, too_much = weights[rank];
    for (int k = 0; k < halvings; ++k) {
      const double middle = 0.5 * (fits + too_much);
      std::vector<double> trial_weights = weights;
      for (double& weight : trial_weights) weight *= (1.0 - middle) / (1.0 - weights[rank]);
      trial_weights[rank] = middle;
      (needed(trial_weights, rank) <= limit ? fits : too_much) = middle;
    }
    return fits;
  }
  /// Shares by speed of which none is larger than its bound; empty: they do not make up a whole.
  static std::vector<double> bounded(const std::vector<double>& by_speed, const std::vector<double>& bounds) {
    double left = 1.0, open = 0.0;
    for (std::size_t rank = 0; rank < bounds.size(); ++rank)
      bounds[rank] < infinite ? left -= bounds[rank] : open += by_speed[rank];
    std::vector<double> weights = bounds;
    for (std::size_t rank = 0; rank < bounds.size(); ++rank)
      if (!(bounds[rank] < infinite)) weights[rank] = by_speed[rank] / open * left;
    const bool whole = open > 0.0 && std::ranges::all_of(weights, [](double weight) { return weight > 0.0; });
    return whole ? weights : std::vector<double>();
  }

  const StageMemory& memory_;
  const Parallel& parallel_;
  const std::vector<std::int64_t>& firsts_;
  int stage_;
};

}  // namespace

TensorWeights tensor_speeds(const Parallel& parallel, const training::MemoryTerms& terms) {
  const std::int64_t replicas = terms.workers / parallel.ranks_a_replica();
  const double micro_batches = static_cast<double>(replicas * parallel.micro_batch_count() * parallel.expert);
  const double rows = std::max(1.0, static_cast<double>(terms.batch) / micro_batches);
  return least_of_parts(parallel, terms.workers, [&](const RankPower& power) {
    if (!power.device) return power.flops_per_s * power.relative;
    const double seconds = training::LayerTimes(*power.device, terms.precision).gradient_s(terms.layers, rows);
    return terms.model->gradient_flops(*terms.problem, 1) * rows / seconds * power.relative;
  });
}

TensorWeights tensor_limits(const Parallel& parallel, std::int64_t workers) {
  return least_of_parts(parallel, workers, [](const RankPower& power) { return power.memory_bytes; });
}

TensorWeights tensor_weights(const Strategy& strategy, const Parallel& parallel,
                             const std::vector<std::int64_t>& firsts, const training::MemoryTerms& terms) {
  if (!parallel.shares_by_speed()) return {};
  const TensorWeights limits = tensor_limits(parallel, terms.workers);
  const StageMemory memory(strategy, parallel, terms);
  TensorWeights weights = tensor_speeds(parallel, terms);
  for (std::size_t stage = 0; stage < weights.size(); ++stage) {
    const double sum = std::accumulate(weights[stage].begin(), weights[stage].end(), 0.0);
    for (double& weight : weights[stage]) weight /= sum;
    weights[stage] = SharesOfStage(memory, parallel, firsts, stage).within(weights[stage], limits[stage]);
  }
  return weights;
}

}  // namespace simgrad::strategies
