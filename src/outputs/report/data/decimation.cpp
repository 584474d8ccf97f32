#include "outputs/report/data/decimation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace simgrad::outputs::report {
namespace {

/// Returns the indices of the smallest and the largest number in [from, to); `from` twice if no number is finite.
std::pair<std::size_t, std::size_t> extremes(const std::vector<double>& numbers, std::size_t from, std::size_t to) {
  std::size_t low = from;
  std::size_t high = from;
  for (std::size_t i = from; i < to; ++i) {
    if (!std::isfinite(numbers[i])) continue;
    if (!std::isfinite(numbers[low]) || numbers[i] < numbers[low]) low = i;
    if (!std::isfinite(numbers[high]) || numbers[i] > numbers[high]) high = i;
  }
  return {low, high};
}

}  // namespace

std::vector<std::size_t> decimated(std::span<const std::vector<double>> columns, std::size_t most) {
  const std::size_t size = columns.empty() ? 0 : columns.front().size();
  if (size <= most) {
    std::vector<std::size_t> all(size);
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }
  const std::size_t intervals = std::max<std::size_t>(1, (most - 2) / (2 * columns.size()));
  std::vector<std::size_t> kept = {0, size - 1};
  for (std::size_t k = 0; k < intervals; ++k) {
    const std::size_t from = size * k / intervals;
    const std::size_t to = size * (k + 1) / intervals;
    for (const std::vector<double>& column : columns) {
      const auto [low, high] = extremes(column, from, to);
      kept.push_back(low);
      kept.push_back(high);
    }
  }
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

}  // namespace simgrad::outputs::report
