#include "models/cut_model.h"

#include "base/apportioned.h"

namespace simgrad::models {

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

std::vector<SharedUnits> CutModel::tensor_units(const Problem&, const Chunk&) const { return {}; }

std::vector<ParameterStretch> CutModel::partial(const Problem& problem, const Chunk& chunk, Among among) const {
  return among == Among::tensor ? std::vector<ParameterStretch>() : replicated(problem, chunk, among);
}

ParameterStretch CutModel::tied(const Problem&, const Chunk&) const { return {}; }

}  // namespace simgrad::models
