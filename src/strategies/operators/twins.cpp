#include "strategies/operators/twins.h"

#include <algorithm>

namespace simgrad::strategies {

namespace {

bool equal_paths(const Devices& all, std::size_t a, std::size_t b) {
  for (std::size_t to = 0; to < all.memory_bytes.size(); ++to) {
    if (to == a) continue;
    const std::size_t of_b = to == b ? a : to;  // between the two: there, and back
    if (all.latency_s[a][to] != all.latency_s[b][of_b] || all.latency_s[to][a] != all.latency_s[of_b][b] ||
        all.bytes_per_s[a][to] != all.bytes_per_s[b][of_b] || all.bytes_per_s[to][a] != all.bytes_per_s[of_b][b])
      return false;
  }
  return true;
}

bool equal(const PlacementProblem& problem, std::size_t a, std::size_t b) {
  return problem.devices.memory_bytes[a] == problem.devices.memory_bytes[b] &&
         std::ranges::all_of(problem.operators,
                             [&](const OperatorCost& op) {
                               return op.seconds[a] == op.seconds[b] &&
                                      (op.update_s.empty() || op.update_s[a] == op.update_s[b]);
                             }) &&
         equal_paths(problem.devices, a, b);
}

}  // namespace

std::vector<std::vector<std::size_t>> twins_of(const PlacementProblem& problem) {
  std::vector<std::vector<std::size_t>> twins(problem.devices.memory_bytes.size());
  for (std::size_t d = 0; d < twins.size(); ++d)
    for (std::size_t other = 0; other < d; ++other)
      if (equal(problem, other, d)) twins[d].push_back(other);
  return twins;
}

}  // namespace simgrad::strategies
