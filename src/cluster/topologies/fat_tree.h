/// Fat tree of k-port switches: three levels, as many links upwards as downwards at every switch.
///
/// Source: M. Al-Fares et al., "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008.
#pragma once

#include <optional>

#include "cluster/topologies/routing.h"
#include "cluster/topologies/wired.h"

namespace simgrad::cluster {

/// k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts. Links: nic-i from host i to its
/// edge switch, half of cluster.latency each; edge-j from an edge switch to an aggregation switch of its pod; core-j
/// from there to a core switch. There are k/2 ways between edge switches of a pod, and (k/2)^2 between pods. By
/// `destination` host t is reached over aggregation switch a = t mod k/2 and core switch (floor(2 t / k) mod k/2) of
/// those on a, so that different receivers take different ways. By `ecmp` h, a hash of the pair (routing.h), takes the
/// receiver's place.
struct FatTree : Wired {
  static constexpr base::About about{
      .kind = "fat_tree",
      .summary = "k-port switches in three levels with as much bandwidth upwards as downwards",
      .cost =
          "2, 4 or 6 links from host to host; bisection bandwidth (k^3 / 8) bandwidth; one path for each pair, so that "
          "flows to different hosts may still meet on a link, by ecmp at random",
      .source = "M. Al-Fares et al., A Scalable, Commodity Data Center Network Architecture, SIGCOMM 2008"};

  std::optional<std::int64_t> k;                ///< ports of a switch; none: as few as hold the hosts
  std::optional<double> bandwidth_bytes_per_s;  ///< bandwidth of a link between switches; none: cluster.bandwidth
  std::optional<double> link_latency_s;         ///< latency of such a link, one way; none: half of cluster.latency
  Routing routing = Routing::destination;

  void describe(base::Describer& d) override;
  std::string refusal(const HostSpec& machine, std::int64_t hosts) const override;
  bool has_localities() const override { return true; }
  /// Hosts of one edge switch; of a tree whose k is not given, none.
  int locality(int host, int workers) const override;
  double longest_latency_s(const HostSpec& machine, std::int64_t) const override {
    return machine.latency_s + 4.0 * link_latency_s.value_or(machine.latency_s / 2.0);
  }
  std::vector<std::string> hashed_links() const override;
  std::vector<Cable> cables(const Blueprint& blueprint) const override;
  std::vector<int> path(const Blueprint& blueprint, int from, int to) const override;

 private:
  int ports(std::int64_t hosts) const;
};

}  // namespace simgrad::cluster
