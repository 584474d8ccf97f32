#include "base/apportioned.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace simgrad::base {

std::vector<std::int64_t> apportioned(std::int64_t count, std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int64_t> parts;
  std::vector<std::pair<double, std::size_t>> remainders;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    const double exact = static_cast<double>(count) * (weights[r] / sum);
    parts.push_back(static_cast<std::int64_t>(std::floor(exact)));
    remainders.emplace_back(static_cast<double>(parts.back()) - exact, r);  // the largest remainder sorts first
  }
  std::ranges::sort(remainders);
  std::int64_t left = count - std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  for (std::size_t i = 0; left > 0; ++i, --left) ++parts[remainders[i % remainders.size()].second];
  if (std::cmp_greater_equal(count, parts.size()))
    for (std::int64_t& part : parts)
      if (part == 0) {
        --*std::ranges::max_element(parts);
        part = 1;
      }
  std::vector<std::int64_t> starts{0};
  for (const std::int64_t part : parts) starts.push_back(starts.back() + part);
  return starts;
}

}  // namespace simgrad::base
