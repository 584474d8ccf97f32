#include "strategies/parameter_pieces.h"

#include <algorithm>

namespace simgrad::strategies {

using models::ParameterRange;
using values::Tensor;

std::int64_t length(std::span<const ParameterRange> stretches) {
  std::int64_t count = 0;
  for (const ParameterRange& range : stretches) count += range.count;
  return count;
}

Tensor gathered(const Tensor& w, std::span<const ParameterRange> stretches) {
  std::vector<Tensor> all;
  for (const ParameterRange& range : stretches) all.push_back(values::slice(w, range.first, range.count));
  return all.size() == 1 ? all.front() : values::concatenate(all);
}

void scatter(const Tensor& numbers, std::span<const ParameterRange> stretches, ParameterPieces& pieces) {
  std::int64_t at = 0;
  for (const ParameterRange& range : stretches) {
    pieces.emplace_back(range, values::slice(numbers, at, range.count));
    at += range.count;
  }
}

Tensor replaced(const Tensor& w, ParameterPieces pieces) {
  std::ranges::sort(pieces, {}, [](const auto& piece) { return piece.first.first; });
  std::vector<Tensor> all;
  std::int64_t at = 0;
  for (const auto& [range, numbers] : pieces) {
    if (range.first > at) all.push_back(values::slice(w, at, range.first - at));
    all.push_back(numbers);
    at = range.first + range.count;
  }
  if (at < w.size()) all.push_back(values::slice(w, at, w.size() - at));
  return values::concatenate(all);
}

}  // namespace simgrad::strategies
