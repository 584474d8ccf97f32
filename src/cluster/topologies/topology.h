/// A way of connecting hosts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"

namespace simgrid::s4u {
class Host;
}

namespace simgrad::cluster {

/// The most ranks of a run, servers included: each is an actor with a stack of its own.
inline constexpr std::int64_t most_ranks = 131'072;

/// A host and its network interface.
struct HostSpec {
  double speed_flops_per_s = 10e9;
  double bandwidth_bytes_per_s = 125e6;  ///< each direction
  double latency_s = 50e-6;              ///< one way, host to host
};

/// A cluster to be built: host i is for rank i. The first `workers` hosts are the workers', the others the servers'.
struct Blueprint {
  HostSpec host_spec;
  int hosts = 1;
  int workers = 1;
  std::vector<double> speeds_flops_per_s = {};  ///< one a host; empty: host_spec's for all

  double speed(std::size_t host) const {
    return speeds_flops_per_s.empty() ? host_spec.speed_flops_per_s : speeds_flops_per_s[host];
  }
};

class Topology : public base::Described {
 public:
  void describe(base::Describer&) override {}
  /// Creates the hosts, cabled, in the present SimGrid engine. Links are called `<class>-<number>`, as in "nic-3".
  virtual std::vector<simgrid::s4u::Host*> build(const Blueprint& blueprint) const = 0;
  /// Whether some hosts are nearer to each other than to the rest: devices of a machine, hosts of a rack or of a site.
  virtual bool has_localities() const { return false; }
  /// The machine, rack or site of a host: equal for hosts near each other.
  virtual int locality(int host, int /*workers*/) const { return host; }
  /// Whether two of them are devices of one machine: messages between them do not go over the network.
  virtual bool inside_host(int /*from*/, int /*to*/, int /*workers*/) const { return false; }
  /// The number of the NIC, among those of its machine, by which the host reaches other machines.
  virtual int nic(int /*host*/, int /*workers*/) const { return 0; }
  /// The reason why the topology cannot be built of that many such hosts, or empty.
  virtual std::string refusal(const HostSpec& /*machine*/, std::int64_t /*hosts*/) const { return {}; }
  /// The reason why that many workers do not fill its hosts, or empty.
  virtual std::string workers_refusal(std::int64_t /*workers*/) const { return {}; }
  /// A note on room that the cluster leaves empty, since its links are there all the same; or empty.
  virtual std::string unfilled(int /*hosts*/, int /*workers*/) const { return {}; }
  /// Sets the bandwidth between devices of one host, if the topology has such links.
  virtual void set_device_bandwidth(double /*bytes_per_s*/) {}
  /// The classes of the links that a hash of the pair chooses among equals; none where no hash does.
  virtual std::vector<std::string> hashed_links() const { return {}; }
  /// Whether all routes have the same latency.
  virtual bool even_latencies() const { return false; }
  /// A bound on the latencies of all routes among so many such hosts.
  virtual double longest_latency_s(const HostSpec& machine, std::int64_t /*hosts*/) const { return machine.latency_s; }
  /// Whether messages may disturb each other even if every host sends one and receives one at a time. If not, each
  /// takes latency + bytes / bandwidth.
  virtual bool disturbs() const { return true; }
};

/// star, two_tier, fat_tree, torus, dragonfly, ring, gpu_hosts, pod, shared_memory, wan
const base::Registry<Topology>& topologies();

}  // namespace simgrad::cluster
