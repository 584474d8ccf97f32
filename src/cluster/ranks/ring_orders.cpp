#include "cluster/ranks/ring_orders.h"

#include <algorithm>
#include <set>

namespace simgrad::cluster {

namespace {

/// A host's members, one of each NIC first. Each of these is followed by the next, and the first by the last of all,
/// which has the NIC of the last of them: rings that begin there leave by NICs of their own, too.
std::vector<int> from_nic_to_nic(const std::vector<int>& host, const std::vector<int>& nic_of) {
  const auto nic = [&](int member) { return nic_of[static_cast<std::size_t>(member)]; };
  std::vector<int> first, others;
  std::set<int> seen;
  for (const int member : host) (seen.insert(nic(member)).second ? first : others).push_back(member);
  if (!others.empty()) {
    const auto last = std::ranges::find(first, nic(others.back()), nic);
    std::rotate(last, last + 1, first.end());
  }
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

}  // namespace

int nics_of_hosts(const LocalGroups& groups) {
  if (groups.hosts.size() < 2) return 1;
  std::size_t fewest = groups.nic_of.size();
  for (const std::vector<int>& host : groups.hosts) {
    std::set<int> nics;
    for (const int member : host) nics.insert(groups.nic_of[static_cast<std::size_t>(member)]);
    fewest = std::min(fewest, nics.size());
  }
  return static_cast<int>(fewest);
}

int smallest_host(const LocalGroups& groups) {
  const auto smallest = std::ranges::min_element(groups.hosts, {}, [](const auto& host) { return host.size(); });
  return static_cast<int>(smallest->size());
}

int rings_in_rounds(const LocalGroups& groups, std::optional<std::int64_t> asked) {
  const std::int64_t wanted = asked.value_or(nics_of_hosts(groups));
  return static_cast<int>(std::min<std::int64_t>(smallest_host(groups), wanted));
}

std::vector<std::vector<int>> ring_orders(const LocalGroups& groups, int rings) {
  std::vector<std::vector<int>> orders(static_cast<std::size_t>(rings));
  for (const std::vector<int>& each : groups.groups) {
    const std::vector<int> host = from_nic_to_nic(each, groups.nic_of);
    for (std::size_t q = 0; q < orders.size(); ++q)
      for (std::size_t i = 0; i < host.size(); ++i) orders[q].push_back(host[(q + i) % host.size()]);
  }
  return orders;
}

std::map<std::pair<int, int>, int> hops_of_rings(const std::vector<std::vector<int>>& orders) {
  std::map<std::pair<int, int>, int> rings;
  for (const std::vector<int>& order : orders)
    for (std::size_t place = 0; place < order.size(); ++place)
      ++rings[{order[place], order[(place + 1) % order.size()]}];
  return rings;
}

}  // namespace simgrad::cluster
