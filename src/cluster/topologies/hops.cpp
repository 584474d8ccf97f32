#include "cluster/topologies/hops.h"

#include <algorithm>
#include <utility>

namespace simgrad::cluster {

Hops::Hops(const std::vector<Cable>& cables) {
  int nodes = 0;
  for (const Cable& cable : cables) nodes = std::max({nodes, cable.from + 1, cable.to + 1});
  first_.assign(static_cast<std::size_t>(nodes) + 1, 0);
  for (const Cable& cable : cables)
    for (const int node : {cable.from, cable.to}) ++first_[static_cast<std::size_t>(node) + 1];
  for (std::size_t node = 1; node < first_.size(); ++node) first_[node] += first_[node - 1];
  ends_.resize(2 * cables.size());
  std::vector<int> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < cables.size(); ++i) {
    const auto [from, to] = std::pair(cables[i].from, cables[i].to);
    const int hop = 2 * static_cast<int>(i);
    ends_[static_cast<std::size_t>(next[static_cast<std::size_t>(from)]++)] = {to, hop};
    ends_[static_cast<std::size_t>(next[static_cast<std::size_t>(to)]++)] = {from, hop + 1};
  }
  for (std::size_t node = 0; node + 1 < first_.size(); ++node)
    std::stable_sort(ends_.begin() + first_[node], ends_.begin() + first_[node + 1],
                     [](const End& a, const End& b) { return a.node < b.node; });
}

int Hops::between(int from, int to) const {
  if (std::cmp_greater_equal(std::max(from, to) + 1, first_.size())) return -1;
  if (ends_of(from) <= ends_of(to)) return found(from, to);
  const int back = found(to, from);
  return back < 0 ? back : back ^ 1;
}

int Hops::found(int from, int to) const {
  const auto begin = ends_.begin() + first_[static_cast<std::size_t>(from)];
  const auto end = ends_.begin() + first_[static_cast<std::size_t>(from) + 1];
  const auto at = std::ranges::lower_bound(begin, end, to, {}, &End::node);
  return at != end && at->node == to ? at->hop : -1;
}

}  // namespace simgrad::cluster
