#include "models/cut_model.h"

namespace simgrad::models {

void JoinedStretches::add(std::int64_t first, std::int64_t count) {
  if (count == 0) return;
  if (!all.empty() && all.back().first + all.back().count == first)
    all.back().count += count;
  else
    all.push_back({first, count});
}

std::vector<ParameterStretch> CutModel::partial(const Problem& problem, const Chunk& chunk, Among among) const {
  return among == Among::tensor ? std::vector<ParameterStretch>() : replicated(problem, chunk, among);
}

ParameterStretch CutModel::tied(const Problem&, const Chunk&) const { return {}; }

}  // namespace simgrad::models
