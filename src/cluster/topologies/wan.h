/// Sites far apart, each a star of hosts inside: geo-distributed learning.
///
/// Source: K. Hsieh et al., "Gaia: Geo-Distributed Machine Learning Approaching LAN Speeds", NSDI 2017.
#pragma once

#include <optional>

#include "cluster/topologies/wired.h"

namespace simgrad::cluster {

struct Site : base::Described {
  std::string name;
  std::int64_t hosts = 1;
  std::optional<double> bandwidth_bytes_per_s;  ///< bandwidth of its hosts' NICs; none: cluster.bandwidth
  std::optional<double> latency_s;              ///< one way, between its hosts; none: cluster.latency

  void describe(base::Describer& d) override;
};

/// The connection of two sites, both ways.
struct SitePair : base::Described {
  std::string from, to;
  std::optional<double> bandwidth_bytes_per_s;
  std::optional<double> latency_s;

  void describe(base::Describer& d) override;
};

/// Links: nic-i from host i to its site's exit, half of the site's latency each; wan-j between every two sites, in the
/// order (0,1), (0,2), ..., (1,2), ... Workers take the sites' hosts in order, then servers.
struct Wan : Wired {
  static constexpr base::About about{
      .kind = "wan",
      .summary = "sites far apart, each a star inside, every two joined by a link with its own bandwidth and latency",
      .cost =
          "in a site as in a star; between sites (a site's latencies) / 2 + the link's latency + bytes / the least "
          "bandwidth on the way",
      .source = "K. Hsieh et al., Gaia: Geo-Distributed Machine Learning Approaching LAN Speeds, NSDI 2017"};

  std::vector<Site> sites;
  std::vector<SitePair> pairs;
  double bandwidth_bytes_per_s = 12.5e6;  ///< bandwidth of a pair that is not listed
  double latency_s = 50e-3;

  void describe(base::Describer& d) override;
  std::string refusal(const HostSpec& machine, std::int64_t hosts) const override;
  bool has_localities() const override { return true; }
  /// Its site.
  int locality(int host, int workers) const override;
  double longest_latency_s(const HostSpec& machine, std::int64_t hosts) const override;
  std::vector<Cable> cables(const Blueprint& blueprint) const override;
  std::vector<int> path(const Blueprint& blueprint, int from, int to) const override;

 private:
  const SitePair* pair(const Site& a, const Site& b) const;
};

}  // namespace simgrad::cluster
