#include "models/cut_model.h"

#include <algorithm>

#include "base/apportioned.h"

namespace simgrad::models {

ParameterStretch common(const ParameterStretch& a, const ParameterStretch& b) {
  const std::int64_t first = std::max(a.first, b.first), end = std::min(a.first + a.count, b.first + b.count);
  return {first, std::max<std::int64_t>(end - first, 0)};
}

ParameterStretch tensor_share(const Chunk& chunk, std::int64_t units, int rank) {
  if (chunk.tensor_weights.empty()) return {rank * (units / chunk.tensor), units / chunk.tensor};
  const std::vector<std::int64_t> starts = base::apportioned(units, chunk.tensor_weights);
  const auto at = static_cast<std::size_t>(rank);
  return {starts[at], starts[at + 1] - starts[at]};
}

ParameterStretch tensor_share(const Chunk& chunk, std::int64_t units) {
  return tensor_share(chunk, units, chunk.tensor_rank);
}

void JoinedStretches::add(std::int64_t first, std::int64_t count) {
  if (count == 0) return;
  if (!all.empty() && all.back().first + all.back().count == first)
    all.back().count += count;
  else
    all.push_back({first, count});
}

double Step::most_assumed() const {
  return assumed.empty() ? numbers : std::ranges::max(assumed) * static_cast<double>(assumed.size());
}

double Step::fewest_assumed() const {
  return assumed.empty() ? numbers : std::ranges::min(assumed) * static_cast<double>(assumed.size());
}

std::string CutModel::padding_note(const Problem&, std::int64_t) const { return {}; }

std::vector<SharedUnits> CutModel::tensor_units(const Problem&, const Chunk&) const { return {}; }

std::vector<ParameterStretch> CutModel::partial(const Problem& problem, const Chunk& chunk, Among among) const {
  return among == Among::tensor ? std::vector<ParameterStretch>() : replicated(problem, chunk, among);
}

ParameterStretch CutModel::tied(const Problem&, const Chunk&) const { return {}; }

}  // namespace simgrad::models
