#include "cluster/topologies/two_tier.h"

namespace simgrad::cluster {

void TwoTier::describe(base::Describer& d) {
  d.integer("hosts_per_rack", hosts_per_rack, "hosts of each rack, servers after the workers; the last may have fewer",
            base::Bounds::between(1, most_hosts));
  d.number("oversubscription", oversubscription, "bandwidth of a full rack's hosts / bandwidth of its uplink",
           base::Bounds::between(1, 1e6));
  d.quantity("rack_latency", rack_latency_s, base::Unit::seconds,
             "latency of an uplink, one way; a message between racks takes two of them in addition to cluster.latency; "
             "default: half of cluster.latency",
             base::Bounds::between(0, 1e6));
}

int TwoTier::locality(int host, int /*workers*/) const { return host / static_cast<int>(hosts_per_rack); }

std::vector<Cable> TwoTier::cables(const Blueprint& blueprint) const {
  const HostSpec& nic = blueprint.host_spec;
  const int racks = locality(blueprint.hosts - 1, 0) + 1;
  const int core = blueprint.hosts + racks;
  std::vector<Cable> all;
  for (int host = 0; host < blueprint.hosts; ++host)
    all.push_back({host, blueprint.hosts + locality(host, 0), "nic", nic.bandwidth_bytes_per_s, nic.latency_s / 2.0});
  for (int rack = 0; rack < racks; ++rack)
    all.push_back({blueprint.hosts + rack, core, "rack",
                   static_cast<double>(hosts_per_rack) * nic.bandwidth_bytes_per_s / oversubscription,
                   rack_latency_s.value_or(nic.latency_s / 2.0)});
  return all;
}

std::vector<int> TwoTier::path(const Blueprint& blueprint, int from, int to) const {
  const int racks = locality(blueprint.hosts - 1, 0) + 1;
  const int up = blueprint.hosts + locality(from, 0);
  const int down = blueprint.hosts + locality(to, 0);
  if (up == down) return {from, up, to};
  return {from, up, blueprint.hosts + racks, down, to};
}

}  // namespace simgrad::cluster
