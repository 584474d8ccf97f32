#include "cluster/ranks/local_groups.h"

#include <algorithm>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

Localities::Members Localities::shared(std::vector<int> members) {
  return *shared_.insert(std::make_shared<const std::vector<int>>(std::move(members))).first;
}

const LocalGroups& Localities::of(const Members& members, int generation) {
  if (const auto known = known_.find({generation, members.get()}); known != known_.end()) return *known->second.groups;
  const auto [at, fresh] = groups_.try_emplace({generation, *members});
  LocalGroups& found = at->second;
  if (!fresh) return found;
  known_[{generation, members.get()}] = {members, &found};
  std::vector<int> hosts;
  for (const int member : *members) hosts.push_back(world_.host(member));
  found = local_groups(world_.cluster(), hosts);
  return found;
}

std::vector<ChosenSum> Localities::chosen_sums() const {
  std::vector<ChosenSum> all;
  for (const auto& [members, groups] : groups_)
    for (const auto& [length, chosen] : groups.chosen_sums) all.push_back(chosen);
  return all;
}

namespace {

void find_hosts(LocalGroups& found, const Options& options, const std::vector<int>& hosts) {
  const auto host = [&](int member) { return hosts[static_cast<std::size_t>(member)]; };
  for (const std::vector<int>& group : found.groups)
    for (const int member : group) {
      if (member != group.front() && options.inside_host(host(group.front()), host(member)))
        found.hosts.back().push_back(member);
      else
        found.hosts.push_back({member});
    }
  const auto largest = std::ranges::max_element(found.hosts, {}, [](const auto& all) { return all.size(); });
  found.largest_host = static_cast<std::size_t>(largest - found.hosts.begin());
}

}  // namespace

LocalGroups local_groups(const Cluster& cluster, const std::vector<int>& hosts) {
  LocalGroups found;
  std::map<int, std::vector<int>> by_locality;
  for (std::size_t m = 0; m < hosts.size(); ++m) by_locality[cluster.locality(hosts[m])].push_back(static_cast<int>(m));
  found.group_of.resize(hosts.size());
  for (auto& [locality, group] : by_locality) {
    for (const int member : group)
      found.group_of[static_cast<std::size_t>(member)] = static_cast<int>(found.groups.size());
    found.groups.push_back(std::move(group));
  }
  find_hosts(found, cluster.options(), hosts);
  for (const int host : hosts) found.nic_of.push_back(cluster.options().nic(host));
  found.even = std::ranges::all_of(found.groups, [&](const auto& g) { return g.size() == found.groups[0].size(); });
  return found;
}

}  // namespace simgrad::cluster
