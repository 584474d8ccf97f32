// Topologies of many hosts: links by the textbook's formulas, and routes that are computed on demand.
#include <fmt/format.h>

#include <utility>

#include "catch.h"
#include "cluster/cabled.h"
#include "cluster/topologies/dragonfly.h"
#include "cluster/topologies/fat_tree.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/hops.h"
#include "cluster/topologies/pod.h"
#include "cluster/topologies/ring.h"
#include "cluster/topologies/torus.h"
#include "cluster/topologies/two_tier.h"

namespace large_topologies_test {

using namespace simgrad;
using namespace simgrad::cluster;
using namespace simgrad::tests;
using namespace simgrad::tests::cabled;

namespace {

constexpr int many = 16'384;

/// "hosts links", and the links and the latency of the way from a host to another in SimGrid.
std::string built(const Options& options, int hosts, int from, int to) {
  return text_of_child([&] {
    const Cluster cluster(options, hosts);
    std::vector<simgrid::s4u::Link*> links;
    double latency_s = 0.0;
    cluster.host(from)->route_to(cluster.host(to), links, &latency_s);
    return fmt::format("{} hosts, {} links, {:.3f} L", cluster.hosts(), links.size(), latency_s / L);
  });
}

}  // namespace

TEST_CASE("16,384 hosts are built on every topology of cables") {
  CHECK(built(with(RingOfHosts{}, many), many, 0, many / 2) == "16384 hosts, 8192 links, 8192.000 L");
  CHECK(built(with(TwoTier{}, many), many, 0, many - 1) == "16384 hosts, 4 links, 2.000 L");
  CHECK(built(with(FatTree{}, many), many, 0, many - 1) == "16384 hosts, 6 links, 3.000 L");
  Torus torus;
  torus.shape = {32, 32, 16};
  CHECK(built(with(torus, many), many, 0, 16 + 32 * 16 + 1024 * 8) == "16384 hosts, 40 links, 40.000 L");
  Dragonfly fly;
  fly.groups = 129;
  fly.routers = 16;
  fly.hosts_per_router = 8;
  CHECK(built(with(fly, many), many, 0, 1) == "16384 hosts, 2 links, 1.000 L");
  CHECK(built(with(GpuHosts{}, many), many, 0, 8) == "16384 hosts, 2 links, 1.000 L");
  CHECK(built(with(Pod{}, many), many, 0, many - 8) == "16384 hosts, 4 links, 2.000 L");
}

TEST_CASE("131,072 hosts are built") {
  TwoTier racks;
  racks.hosts_per_rack = 32;
  CHECK(built(with(racks, 131'072), 131'072, 0, 131'071) == "131072 hosts, 4 links, 2.000 L");
  CHECK_THROWS_WITH(built(with(racks, 131'072), 131'073, 0, 1),
                    ContainsSubstring("131073 ranks are too many; expected at most 131072"));
}

TEST_CASE("a fat tree of 80 ports has 128,000 hosts, and half of their bandwidth through the middle") {
  FatTree tree;
  tree.k = 80;
  constexpr int hosts = 128'000;
  const Options options = with(tree, hosts);
  const auto all = cables(options, hosts);
  CHECK(count(all, "nic") == 128'000);
  CHECK(count(all, "edge") == 128'000);  // k pods, (k/2)^2 in each
  CHECK(count(all, "core") == 128'000);  // (k/2)^2 core switches with k ports
  // Pods 0 to 39 against the rest; nodes: hosts, 3,200 edge, 3,200 aggregation and 1,600 core switches.
  const double half = cut(all, [](int node) {
    return node < 64'000 || (node >= 128'000 && node < 129'600) || (node >= 131'200 && node < 132'800) ||
           (node >= 134'400 && node < 135'200);
  });
  CHECK(half == 64'000 * B);
  CHECK(tree.refusal({}, hosts).empty());
  CHECK(tree.refusal({}, hosts + 1).find("k = 80 makes a tree of 128000 hosts") == 0);
}

TEST_CASE("cables are found by their two nodes, the first of several, and in either direction") {
  std::vector<Cable> all;
  for (const auto& [from, to] : {std::pair(0, 3), std::pair(1, 3), std::pair(3, 0), std::pair(2, 1)})
    all.push_back({from, to, "nic", B, L});
  const Hops hops(all);
  CHECK(hops.between(0, 3) == 0);
  CHECK(hops.between(3, 0) == 1);
  CHECK(hops.between(1, 3) == 2);
  CHECK(hops.between(3, 1) == 3);
  CHECK(hops.between(1, 2) == 7);
  CHECK(hops.between(0, 1) == -1);
  CHECK(hops.between(0, 9) == -1);
  CHECK(hops.between(2, 2) == -1);
}

}  // namespace large_topologies_test
