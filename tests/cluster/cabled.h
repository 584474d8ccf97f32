// The cables and paths of a topology, and the times of messages on it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "cluster/topologies/wired.h"
#include "cluster/transfers.h"

namespace simgrad::tests::cabled {

inline constexpr double B = 1e9;              // bytes/s
inline constexpr double L = 10e-6;            // s
inline constexpr std::int64_t d = 1'000'000;  // doubles
inline constexpr double M = 8e6;              // their bytes

template <class Kind>
cluster::Options with(Kind kind, std::int64_t workers) {
  cluster::Options options;
  options.workers = workers;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = L};
  options.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::make_unique<Kind>(std::move(kind)));
  return options;
}

inline cluster::Blueprint blueprint(const cluster::Options& options, int hosts) {
  return {.host_spec = options.host_spec, .hosts = hosts, .workers = static_cast<int>(options.workers)};
}

inline std::vector<cluster::Cable> cables(const cluster::Options& options, int hosts) {
  return dynamic_cast<const cluster::Wired&>(*options.topology).cables(blueprint(options, hosts));
}

inline std::vector<int> path(const cluster::Options& options, int hosts, int from, int to) {
  return dynamic_cast<const cluster::Wired&>(*options.topology).path(blueprint(options, hosts), from, to);
}

inline std::size_t count(const std::vector<cluster::Cable>& cables, const std::string& kind) {
  return static_cast<std::size_t>(std::ranges::count(cables, kind, &cluster::Cable::kind));
}

/// The bandwidth, one way, of the cables between the nodes of a half and the rest.
inline double cut(const std::vector<cluster::Cable>& cables, const std::function<bool(int)>& in_half) {
  double sum = 0.0;
  for (const cluster::Cable& cable : cables)
    if (in_half(cable.from) != in_half(cable.to)) sum += cable.bandwidth_bytes_per_s;
  return sum;
}

/// On the way from every host to every other each step is a cable (those of `free` steps are none).
inline void check_paths(const cluster::Options& options, int hosts, int most_links, int free = 0) {
  std::set<std::pair<int, int>> joined;
  for (const cluster::Cable& cable : cables(options, hosts)) {
    joined.insert({cable.from, cable.to});
    joined.insert({cable.to, cable.from});
  }
  int most = 0;
  for (int a = 0; a < hosts; ++a)
    for (int b = 0; b < hosts; ++b) {
      if (a == b) continue;
      const auto nodes = path(options, hosts, a, b);
      REQUIRE(nodes.front() == a);
      REQUIRE(nodes.back() == b);
      int missing = 0;
      for (std::size_t i = 1; i < nodes.size(); ++i) missing += joined.contains({nodes[i - 1], nodes[i]}) ? 0 : 1;
      REQUIRE(missing <= free);
      most = std::max(most, static_cast<int>(nodes.size()) - 1 - missing);
    }
  CHECK(most == most_links);
}

inline double message_s(const cluster::Options& options, int hosts, int from, int to) {
  return transfer_ends(options, hosts, {{from, to, d}}).front();
}

inline auto nine(double x) { return Approx(x).epsilon(1e-9); }

}  // namespace simgrad::tests::cabled
