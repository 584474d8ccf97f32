#include "strategies/automatic/shared_units.h"

#include <algorithm>

#include "models/operators.h"
#include "strategies/parallel/sharing_ranks.h"
#include "training/learning/units.h"

namespace simgrad::strategies {

using models::Among;

namespace {

models::Chunk chunk_of(std::int64_t unit, const models::Shares& shares) {
  return {.first_unit = unit,
          .end_unit = unit + 1,
          .tensor = shares.tensor,
          .sequence_parallel = shares.sequence_parallel,
          .context = shares.context,
          .expert = shares.expert};
}

}  // namespace

int ranks_among(const models::Shares& shares, Among among) {
  switch (among) {
    case Among::tensor:
      return shares.tensor;
    case Among::context:
      return shares.context;
    case Among::expert:
      break;
  }
  return shares.expert;
}

std::vector<SharedUnit> units_shared(const models::Model& model, const models::Problem& problem,
                                     const models::Shares& shares, bool whole,
                                     std::span<const training::Dimension> sums_along) {
  const auto cut = models::cut_into_operators(model);
  const auto count = static_cast<std::int64_t>(training::units_of(model.layers(problem)).size());
  std::vector<SharedUnit> units;
  for (std::int64_t unit = 0; unit < count; ++unit) {
    const models::Chunk chunk = chunk_of(unit, shares);
    SharedUnit& shared_unit = units.emplace_back(
        SharedUnit{.layers = cut->layers(problem, chunk), .segments = cut->segments(problem, chunk), .partial = {}});
    shared_unit.passes_on = unit + 1 < count;
    const models::ParameterStretch copy =
        whole && unit + 1 == count ? cut->tied(problem, chunk) : models::ParameterStretch();
    for (const models::Layer& layer : shared_unit.layers) shared_unit.parameters += layer.count;
    shared_unit.parameters -= copy.count;
    if (shares.expert > 1 && std::ranges::count(sums_along, training::Dimension::expert) > 0) {
      shared_unit.of_experts = shared_unit.parameters;
      for (const models::ParameterStretch& stretch : cut->partial(problem, chunk, Among::expert))
        shared_unit.of_experts -= stretch.count - common(stretch, copy).count;
    }
    for (std::size_t k = 0; k < models::kinds_of_shares; ++k) {
      const auto among = static_cast<Among>(k);
      if (ranks_among(shares, among) == 1 || std::ranges::count(sums_along, dimension_of(among)) > 0) continue;
      for (const models::Segment& segment : shared_unit.segments) {
        std::int64_t numbers = 0;
        for (const models::ParameterStretch& partial : cut->partial(problem, chunk, among)) {
          const models::ParameterStretch own = common({segment.first, segment.count}, partial);
          numbers += own.count - common(own, copy).count;
        }
        if (numbers > 0) shared_unit.partial[k].push_back(static_cast<double>(numbers));
      }
    }
  }
  return units;
}

double tied_numbers(const models::Model& model, const models::Problem& problem, const models::Shares& shares) {
  const auto units = static_cast<std::int64_t>(training::units_of(model.layers(problem)).size());
  const models::Chunk last = chunk_of(units - 1, shares);
  return static_cast<double>(models::cut_into_operators(model)->tied(problem, last).count);
}

}  // namespace simgrad::strategies
