#include "strategies/parallel/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "training/learning/layer_times.h"
#include "training/learning/units.h"

namespace simgrad::strategies {

using training::Dimension;

namespace {

/// As many stretches as it takes if none may cost more than that; filled from the front.
std::vector<std::int64_t> filled_up_to(std::span<const double> costs, double most) {
  std::vector<std::int64_t> firsts{0};
  double sum = 0.0;
  for (std::size_t unit = 0; unit < costs.size(); ++unit) {
    if (unit > 0 && sum + costs[unit] > most && static_cast<std::int64_t>(unit) > firsts.back()) {
      firsts.push_back(static_cast<std::int64_t>(unit));
      sum = 0.0;
    }
    sum += costs[unit];
  }
  return firsts;
}

/// Splits stretches of several units until there are enough, the last ones first.
void split_until(std::vector<std::int64_t>& firsts, std::int64_t pieces, std::int64_t units) {
  for (auto at = static_cast<std::int64_t>(firsts.size()) - 1; std::cmp_less(firsts.size(), pieces); --at) {
    const std::int64_t end = std::cmp_less(at + 1, firsts.size()) ? firsts[static_cast<std::size_t>(at) + 1] : units;
    for (std::int64_t unit = end - 1;
         unit > firsts[static_cast<std::size_t>(at)] && std::cmp_less(firsts.size(), pieces); --unit)
      firsts.insert(firsts.begin() + at + 1, unit);
  }
}

/// As many units between the first and the last to each piece; the first ones have one more where they do not divide.
std::vector<std::int64_t> equal_blocks(std::int64_t units, std::int64_t pieces) {
  const std::int64_t blocks = units - 2;
  std::vector<std::int64_t> firsts{0};
  for (std::int64_t piece = 1; piece <= pieces; ++piece)
    firsts.push_back(1 + blocks / pieces * piece + std::min(piece, blocks % pieces));
  firsts.back() = units;
  return firsts;
}

}  // namespace

std::vector<double> costs_of_units(std::span<const models::Layer> layers) {
  const bool measured = training::any_measured(layers);
  std::vector<double> costs;
  for (const training::ModelUnit& unit : training::units_of(layers)) {
    double sum = 0.0;
    for (std::size_t i = unit.first_layer; i < unit.first_layer + unit.layers; ++i)
      sum += measured ? layers[i].forward_s + layers[i].backward_s : layers[i].forward_flops + layers[i].backward_flops;
    costs.push_back(sum);
  }
  return costs;
}

std::vector<std::int64_t> firsts_of_pieces(const Parallel& parallel, std::span<const models::Layer> layers) {
  const std::int64_t pieces = parallel.shape().pieces();
  const std::vector<double> costs = costs_of_units(layers);
  if (!parallel.stages.empty()) {
    std::vector<std::int64_t> firsts{0};
    for (const double units : parallel.stages) firsts.push_back(firsts.back() + static_cast<std::int64_t>(units));
    return firsts;
  }
  const auto units = static_cast<std::int64_t>(costs.size());
  return parallel.balance == Balance::blocks && units >= pieces + 2 ? equal_blocks(units, pieces)
                                                                    : balanced(costs, pieces);
}

std::vector<std::int64_t> balanced(std::span<const double> costs, std::int64_t pieces) {
  const auto units = static_cast<std::int64_t>(costs.size());
  const double largest = *std::ranges::max_element(costs);
  std::vector<double> sums;  // of consecutive units: the largest cost is one of them
  for (std::size_t first = 0; first < costs.size(); ++first) {
    double sum = 0.0;
    for (std::size_t unit = first; unit < costs.size(); ++unit)
      if ((sum += costs[unit]) >= largest) sums.push_back(sum);
  }
  std::ranges::sort(sums);
  const double least = *std::ranges::partition_point(
      sums, [&](double sum) { return std::cmp_greater(filled_up_to(costs, sum).size(), pieces); });
  std::vector<std::int64_t> firsts = filled_up_to(costs, least);
  split_until(firsts, pieces, units);
  firsts.push_back(units);
  return firsts;
}

std::string stages_refusal(const Parallel& parallel, std::int64_t units) {
  const std::int64_t pieces = parallel.shape().pieces(), chunks = units / parallel.pipeline;
  if (pieces > units)
    return fmt::format(
        "pipeline x chunks = {} pieces of a model of {} units (`simgrad explain layers SCENARIO` shows them); expected "
        "at "
        "most one piece a unit: {}, or a model with more layers",
        pieces, units,
        parallel.chunks == 1 ? fmt::format("take pipeline = {} or less", units)
        : chunks > 1         ? fmt::format("take chunks = {} or less", chunks)
                             : fmt::format("leave chunks out, with pipeline = {} or less", units));
  const auto given = static_cast<std::int64_t>(std::accumulate(parallel.stages.begin(), parallel.stages.end(), 0.0));
  if (!parallel.stages.empty() && given != units)
    return fmt::format("stages has {} units in all, but the model has {}; expected as many", given, units);
  return {};
}

std::vector<models::Chunk> chunks_at(const Parallel& parallel, const std::vector<std::int64_t>& firsts,
                                     const training::MeshPlace& place, const std::vector<double>& weights) {
  const PipelineShape shape = parallel.shape();
  const models::Shares shares = parallel.shares();
  std::vector<models::Chunk> chunks;
  for (int chunk = 0; chunk < shape.chunks; ++chunk) {
    const auto piece = static_cast<std::size_t>(shape.piece(place[Dimension::pipeline], chunk));
    chunks.push_back({.first_unit = firsts[piece],
                      .end_unit = firsts[piece + 1],
                      .tensor = shares.tensor,
                      .tensor_rank = place[Dimension::tensor],
                      .sequence_parallel = shares.sequence_parallel,
                      .context = shares.context,
                      .context_rank = place[Dimension::context],
                      .expert = shares.expert,
                      .expert_rank = place[Dimension::expert],
                      .tensor_weights = weights});
  }
  return chunks;
}

std::vector<std::vector<models::Chunk>> chunks_of_parts(const Parallel& parallel,
                                                        const std::vector<std::int64_t>& firsts,
                                                        const TensorWeights& weights) {
  std::vector<std::vector<models::Chunk>> parts;
  const training::Mesh replica = parallel.mesh(parallel.ranks_a_replica());
  for (int part = 0; part < replica.parts(); ++part) {
    const training::MeshPlace place = replica.place_of_part(part);
    const auto stage = static_cast<std::size_t>(place[Dimension::pipeline]);
    parts.push_back(chunks_at(parallel, firsts, place, weights.empty() ? std::vector<double>() : weights[stage]));
  }
  return parts;
}

}  // namespace simgrad::strategies
