#include "collectives/shared_link.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace simgrad::collectives {

std::vector<double> ends_through_one_link(const cluster::AlphaBetaGamma& costs, std::span<const double> starts,
                                          double bytes) {
  std::vector<std::size_t> order(starts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return starts[a] < starts[b]; });
  while (!order.empty() && std::isinf(starts[order.back()])) order.pop_back();

  std::vector<double> ends(starts.size(), cluster::CollectiveTiming::uncut);
  std::vector<double> due(order.size());  // in bytes served to each: when a message is through
  double now = 0.0;
  double served = 0.0;
  std::size_t first = 0;  // order[first .. come - 1] are under way
  std::size_t come = 0;
  while (first < order.size()) {
    const auto sharing = static_cast<double>(come - first);
    const double comes = come < order.size() ? starts[order[come]] + costs.latency_s : cluster::CollectiveTiming::uncut;
    const double through = come > first ? now + costs.flow_s(std::max(0.0, due[first] - served), sharing)
                                        : cluster::CollectiveTiming::uncut;
    if (comes < through) {
      if (come > first)
        served += std::min((comes - now) * costs.bandwidth_bytes_per_s / sharing,
                           (comes - now) * costs.flow_limit_bytes_per_s);
      now = comes;
      due[come++] = served + bytes;
    } else {
      served = due[first];
      now = through;
      ends[order[first++]] = now;
    }
  }
  return ends;
}

}  // namespace simgrad::collectives
