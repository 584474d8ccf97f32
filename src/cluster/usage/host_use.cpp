/// The hosts of a run: the ranks on them, how busy they were, their prices in the cluster's options.
#include <algorithm>
#include <map>
#include <string>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/host_properties.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/planned_hosts.h"
#include "cluster/usage/usage.h"

namespace simgrad::cluster {

namespace {

/// A host before anything runs on it.
record::HostUse described(const Cluster& cluster, int host) {
  const Options& options = cluster.options();
  if (options.platform.empty()) return planned_host(options, host);
  const HostProperties properties = properties_of(*cluster.host(host));
  record::HostUse use;
  use.host_class = cluster.host_class(host);
  use.host_number = host;
  use.serves = true;
  use.price_usd_per_h = properties.price_usd_per_h;
  use.idle_w = properties.idle_w;
  use.busy_w = properties.busy_w;
  return use;
}

}  // namespace

HostSeconds host_seconds(const World& world) {
  struct Host {
    HostSeconds seconds;
    int cores = 0;
  };
  std::map<int, Host> hosts;
  HostSeconds sum;
  const double now = world.now();
  for (int rank = 0; rank < world.size(); ++rank) {
    const Account& account = world.timekeeper().main(world.simulated(rank)).account();
    if (world.ranks().own_hosts() && !world.ranks().shares_cores(rank)) {
      sum.busy_s += account.computed_s(now);
      sum.down_s += account.been_down_s(now);
      continue;
    }
    Host& host = hosts[world.host(rank)];
    host.seconds.busy_s += account.computed_s(now);
    host.seconds.down_s = account.been_down_s(now);
    if (rank < world.workers()) ++host.cores;
  }
  for (const auto& [lives_on, host] : hosts) {
    const auto shared = world.ranks().shared_cores_busy_s(lives_on, now);
    sum.busy_s += shared ? *shared : host.seconds.busy_s / std::max(1, host.cores);
    sum.down_s += host.seconds.down_s;
  }
  return sum;
}

void add_hosts(record::Record& record, const World& world) {
  std::map<int, std::size_t> place;
  std::vector<int> cores;
  for (int rank = 0; rank < world.size(); ++rank) {
    const int lives_on = world.host(rank);
    const auto [at, fresh] = place.try_emplace(lives_on, record.hosts.size());
    if (fresh) {
      record.hosts.push_back(described(world.cluster(), lives_on));
      cores.push_back(0);
    }
    record::RankUse& use = record.ranks[static_cast<std::size_t>(rank)];
    record::HostUse& host_use = record.hosts[at->second];
    use.host = static_cast<std::int64_t>(at->second);
    host_use.down_s = use.down_s;
    if (rank < world.workers()) {
      host_use.serves = false;
      host_use.spot = rented_on_spot(world.cluster().options().failures, host_use.host_class);
      ++cores[at->second];
    }
    // Ranks with cores of their own are busy while they compute; for the others see below.
    host_use.busy_s += use.compute_s;
  }
  add_spares(record.hosts, world.cluster().options());
  for (const auto& [lives_on, at] : place) {
    const auto shared = world.ranks().shared_cores_busy_s(lives_on, world.now());
    record.hosts[at].busy_s = shared ? *shared : record.hosts[at].busy_s / std::max(1, cores[at]);
  }
}

}  // namespace simgrad::cluster
