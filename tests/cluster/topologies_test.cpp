// Every topology against its textbook: hosts, links, hops, bisection bandwidth, and what a message takes.
#include <map>
#include <set>

#include "catch.h"
#include "cluster/cabled.h"
#include "cluster/topologies/dragonfly.h"
#include "cluster/topologies/fat_tree.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/ring.h"
#include "cluster/topologies/star.h"
#include "cluster/topologies/torus.h"
#include "cluster/topologies/two_tier.h"
#include "cluster/topologies/wan.h"

namespace topologies_test {

using namespace simgrad;
using namespace simgrad::cluster;
using namespace simgrad::tests;
using namespace simgrad::tests::cabled;

TEST_CASE("two_tier: racks whose uplinks are oversubscribed") {
  TwoTier racks;
  racks.hosts_per_rack = 4;
  racks.oversubscription = 8;
  const Options options = with(racks, 16);
  const auto all = cables(options, 16);
  CHECK(count(all, "nic") == 16);
  CHECK(count(all, "rack") == 4);
  check_paths(options, 16, 4);
  CHECK(route(options, 16, 0, 3) == "nic-0_UP nic-3_DOWN ");
  CHECK(route(options, 16, 0, 15) == "nic-0_UP rack-0_UP rack-3_DOWN nic-15_DOWN ");
  // Bisection, two racks on either side: R/2 uplinks of hosts_per_rack B / oversubscription.
  CHECK(cut(all, [](int node) { return node < 8 || node == 16 || node == 17; }) == 2 * 4 * B / 8);
  CHECK(message_s(options, 16, 0, 3) == nine(L + M / B));
  CHECK(message_s(options, 16, 0, 15) == nine(2 * L + M / (B / 2)));
  CHECK(options.topology->locality(5, 16) == 1);
  // Four flows out of one rack share its uplink of B / 2.
  const auto ends = transfer_ends(options, 16, {{0, 4, d}, {1, 5, d}, {2, 6, d}, {3, 7, d}});
  for (const double end : ends) CHECK(end == nine(2 * L + 4 * M / (B / 2)));
}

TEST_CASE("fat_tree: k^3/4 hosts, 2, 4 or 6 links between them, and the bisection bandwidth of half of the hosts") {
  FatTree tree;
  tree.k = 4;
  const Options options = with(tree, 16);
  const auto all = cables(options, 16);
  CHECK(count(all, "nic") == 16);
  CHECK(count(all, "edge") == 16);  // k pods, (k/2)^2 in each
  CHECK(count(all, "core") == 16);  // (k/2)^2 core switches with k ports
  check_paths(options, 16, 6);
  CHECK(route(options, 16, 0, 1) == "nic-0_UP nic-1_DOWN ");
  CHECK(route(options, 16, 0, 2) == "nic-0_UP edge-0_UP edge-2_DOWN nic-2_DOWN ");
  CHECK(message_s(options, 16, 0, 2) == nine(2 * L + M / B));
  CHECK(message_s(options, 16, 0, 15) == nine(3 * L + M / B));
  // Pods 0 and 1 with their switches against the rest, the core switches dealt to either side: N/2 B.
  const auto first_half = [](int node) {
    return node < 8 || (node >= 16 && node < 20) || (node >= 24 && node < 28) || (node >= 32 && node < 34);
  };
  CHECK(cut(all, first_half) == 8 * B);
  // Without contention for a permutation that the way up keeps apart: hosts of pod 0 to those of pod 1.
  const auto ends = transfer_ends(options, 16, {{0, 4, d}, {1, 5, d}, {2, 6, d}, {3, 7, d}});
  for (const double end : ends) CHECK(end == nine(3 * L + M / B));
  // The receiver chooses the way: two hosts that are first at their edge switches do not meet on the way to 4 and 5.
  for (const double end : transfer_ends(options, 16, {{0, 4, d}, {2, 5, d}})) CHECK(end == nine(3 * L + M / B));
  CHECK(options.topology->locality(3, 16) == 1);
}

TEST_CASE("fat_tree by ecmp: a hash of the pair chooses the core switch, and two pairs may meet") {
  // The first output of SplitMix64 from the seed 0 is known.
  CHECK(hash_of_pair(0, 0) == 0xE220A8397B1DCDAFU);
  FatTree tree;
  tree.k = 4;
  tree.routing = Routing::ecmp;
  const Options options = with(tree, 16);
  check_paths(options, 16, 6);
  // Host 0 and host 1 hang on one edge switch, whose two links upwards go to the aggregation switches h mod 2.
  const auto upwards = [](int from, int to) { return hash_of_pair(from, to) % 4 % 2; };
  int met = 0, apart = 0;
  for (int to = 4; to < 15; ++to) {
    const bool meet = upwards(0, to) == upwards(1, to + 1);
    if ((meet ? met : apart)++ > 0) continue;
    // Host `to` is even, so that the two flows come down on different switches or end at one: only the way up is
    // shared.
    const double alone_s = path(options, 16, 0, to).size() == 7 ? 3 * L : 2 * L;
    for (const double end : transfer_ends(options, 16, {{0, to, d}, {1, to + 1, d}}))
      CHECK(end == nine(alone_s + (meet ? 2 : 1) * M / B));
  }
  CHECK(met > 0);
  CHECK(apart > 0);
  // All (k/2)^2 = 4 core switches take part.
  std::set<int> cores;
  for (int from = 0; from < 4; ++from)
    for (int to = 4; to < 16; ++to) cores.insert(path(options, 16, from, to).at(3));
  CHECK(cores.size() == 4);
}

TEST_CASE("torus: neighbours in every dimension, the shorter way round, two cuts through the longest dimension") {
  Torus torus;
  torus.shape = {4, 4, 2};
  const Options options = with(torus, 32);
  const auto all = cables(options, 32);
  CHECK(all.size() == 32 + 32 + 16);  // a dimension of size 2 has one cable between two hosts
  check_paths(options, 32, 2 + 2 + 1);
  CHECK(cut(all, [](int node) { return node % 4 < 2; }) == 2 * (32 / 4) * B);
  CHECK(route(options, 32, 0, 3) == "torus-9_DOWN ");  // a node has three cables: this is the first of node 3
  CHECK(message_s(options, 32, 0, 1) == nine(L + M / B));
  CHECK(message_s(options, 32, 0, 2 + 4 * 2 + 16) == nine(5 * L + M / B));

  const Options square = with(Torus{}, 10);  // 4 x 3
  CHECK(cables(square, 10).size() == 24);
  check_paths(square, 10, 3);
}

TEST_CASE("a slice of a torus closes the dimensions that it spans, and ends in the others") {
  Torus torus;
  torus.shape = {4, 4, 4};
  torus.slice = {4, 2, 1};
  const Options options = with(torus, 8);
  const auto all = cables(options, 8);
  CHECK(all.size() == 2 * 4 + 4);  // two rings of four, and one cable between each two of them
  check_paths(options, 8, 2 + 1);
  CHECK(cut(all, [](int node) { return node % 4 < 2; }) == 2 * 2 * B);
  CHECK(message_s(options, 8, 0, 3) == nine(L + M / B));
  torus.slice = {2, 4, 1};
  // In the first dimension the slice is a path of two; in the second a ring of four.
  CHECK(cables(with(torus, 8), 8).size() == 4 + 2 * 4);
  torus.slice = {3, 3, 1};
  const Options box = with(torus, 9);
  CHECK(cables(box, 9).size() == 3 * 2 + 3 * 2);  // paths of three, nowhere closed
  check_paths(box, 9, 2 + 2);
  CHECK(message_s(box, 9, 0, 2) == nine(2 * L + M / B));
  CHECK(torus.workers_refusal(9).empty());
  CHECK(torus.workers_refusal(8) ==
        "slice = [3, 3, 1] has 9 hosts, but workers = 8; expected sides whose product is 8");
  CHECK(torus.refusal({}, 10).find("slice = [3, 3, 1] has 9 hosts, but the ranks (servers included) are 10") == 0);
}

TEST_CASE("ring: the shorter way round, and two links through every half") {
  const Options options = with(RingOfHosts{}, 8);
  const auto all = cables(options, 8);
  CHECK(all.size() == 8);
  check_paths(options, 8, 4);
  CHECK(cut(all, [](int node) { return node < 4; }) == 2 * B);
  CHECK(route(options, 8, 0, 6) == "ring-7_DOWN ring-6_DOWN ");
  CHECK(message_s(options, 8, 1, 5) == nine(4 * L + M / B));
  CHECK(cables(with(RingOfHosts{}, 2), 2).size() == 1);
  CHECK(message_s(with(RingOfHosts{}, 2), 2, 1, 0) == nine(L + M / B));
}

TEST_CASE("dragonfly: all to all in a group, one link between every two, more groups than routers too") {
  Dragonfly fly;
  fly.groups = 6;
  fly.routers = 4;
  fly.hosts_per_router = 2;
  const Options options = with(fly, 48);
  const auto all = cables(options, 48);
  CHECK(count(all, "nic") == 48);
  CHECK(count(all, "local") == 6 * (4 * 3 / 2));
  CHECK(count(all, "global") == 6 * 5 / 2);
  check_paths(options, 48, 5);
  std::map<int, int> long_cables;  // each router's: five of a group among four
  for (const Cable& cable : all)
    if (cable.kind == "global")
      for (const int router : {cable.from, cable.to}) ++long_cables[router];
  CHECK(long_cables.size() == 24);
  for (const auto& [router, ends] : long_cables) CHECK(ends <= 2);
  // Three groups on either side: (g/2)^2 long cables.
  CHECK(cut(all, [](int node) { return node < 24 || (node >= 48 && node < 60); }) == 9 * B);
  CHECK(message_s(options, 48, 0, 1) == nine(L + M / B));
  CHECK(message_s(options, 48, 0, 7) == nine(1.5 * L + M / B));
  CHECK(options.topology->locality(7, 48) == 3);
}

TEST_CASE("gpu_hosts: NVLink within a host, device i on NIC i mod k between hosts") {
  GpuHosts gpus;
  gpus.devices = 4;
  gpus.nics = 2;
  gpus.nvlink_bandwidth_bytes_per_s = 100 * B;
  gpus.nvlink_latency_s = 2e-6;
  const Options options = with(gpus, 8);
  const auto all = cables(options, 9);  // a server behind
  CHECK(count(all, "nvlink") == 8);
  CHECK(count(all, "nic") == 2 * 2 + 1);
  check_paths(options, 9, 2, 2);
  CHECK(route(options, 9, 0, 3) == "nvlink-0_UP nvlink-3_DOWN ");
  CHECK(route(options, 9, 1, 4) == "nic-1_UP nic-2_DOWN ");
  CHECK(route(options, 9, 5, 8) == "nic-3_UP nic-4_DOWN ");
  CHECK(message_s(options, 9, 0, 3) == nine(2e-6 + M / (100 * B)));
  CHECK(message_s(options, 9, 0, 5) == nine(L + M / B));
  // Devices 0 and 2 share a NIC; 1 has the other. Bisection of two hosts: 2 NICs.
  const auto ends = transfer_ends(options, 9, {{0, 4, d}, {2, 6, d}, {1, 5, d}});
  CHECK(ends[0] == nine(L + 2 * M / B));
  CHECK(ends[1] == nine(L + 2 * M / B));
  CHECK(ends[2] == nine(L + M / B));
  CHECK(options.topology->locality(5, 8) == 1);
  CHECK(options.topology->locality(8, 8) == 8);
}

TEST_CASE("star: the devices of a host share its NIC, and a server behind has its own") {
  Star star;
  star.devices_per_host = 4;
  const Options options = with(star, 4);
  CHECK(route(options, 5, 1, 3) == "device-1_UP device-3_DOWN ");
  CHECK(route(options, 5, 1, 4) == "device-1_UP nic-0_UP nic-4_DOWN ");
  CHECK(route(options, 5, 4, 1) == "nic-4_UP nic-0_DOWN device-1_DOWN ");
  CHECK(message_s(options, 5, 1, 4) == nine(L + M / B));
}

TEST_CASE("shared_memory: all messages share the memory's bandwidth, each under the limit of a core") {
  Options options;
  options.workers = 4;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = L};
  options.topology = base::Slot<Topology>(topologies(), "shared_memory");
  CHECK(route(options, 4, 0, 3) == "memory-0 ");
  CHECK(message_s(options, 4, 0, 3) == nine(L + M / B));
  for (const double end : transfer_ends(options, 4, {{0, 1, d}, {2, 3, d}})) CHECK(end == nine(L + 2 * M / B));
  options.flow_limit_bytes_per_s = B / 4;
  for (const double end : transfer_ends(options, 4, {{0, 1, d}, {2, 3, d}})) CHECK(end == nine(L + M / (B / 4)));
}

TEST_CASE("wan: stars inside, and between two sites what their pair says") {
  const auto site = [](const char* name, int hosts) {
    Site one;
    one.name = name;
    one.hosts = hosts;
    return one;
  };
  Wan wan;
  wan.sites = {site("eu", 2), site("us", 3), site("asia", 1)};
  wan.sites[1].bandwidth_bytes_per_s = 2 * B;
  wan.sites[1].latency_s = 2 * L;
  SitePair pair;
  pair.from = "us";
  pair.to = "eu";
  pair.bandwidth_bytes_per_s = B / 10;
  pair.latency_s = 40e-3;
  wan.pairs = {pair};
  wan.bandwidth_bytes_per_s = B / 20;
  wan.latency_s = 0.1;
  const Options options = with(wan, 6);
  const auto all = cables(options, 6);
  CHECK(count(all, "nic") == 6);
  CHECK(count(all, "wan") == 3);
  check_paths(options, 6, 3);
  CHECK(route(options, 6, 0, 4) == "nic-0_UP wan-0_UP nic-4_DOWN ");
  CHECK(route(options, 6, 5, 4) == "nic-5_UP wan-2_DOWN nic-4_DOWN ");
  CHECK(message_s(options, 6, 0, 1) == nine(L + M / B));
  CHECK(message_s(options, 6, 2, 3) == nine(2 * L + M / (2 * B)));
  CHECK(message_s(options, 6, 0, 4) == nine(L / 2 + 40e-3 + L + M / (B / 10)));
  CHECK(message_s(options, 6, 0, 5) == nine(L + 0.1 + M / (B / 20)));
  // The halves {eu, asia} and {us}: two of the three links.
  CHECK(cut(all, [](int node) { return node == 6 || node == 8 || node < 2 || node == 5; }) == B / 10 + B / 20);
  CHECK(options.topology->locality(4, 6) == 1);
}

TEST_CASE("flows of different latencies share a link fairly on every topology") {
  TwoTier racks;
  racks.hosts_per_rack = 4;
  racks.oversubscription = 1;
  // From the own rack and from another into one NIC: the near one starts L earlier.
  const auto ends = transfer_ends(with(racks, 8), 8, {{0, 1, d}, {4, 1, d}});
  CHECK(ends[0] == nine(L + L + 2 * (M - L * B) / B));
  CHECK(ends[1] == nine(L + 2 * M / B));
}

TEST_CASE("a shape that has no place for the hosts is impossible, and says so") {
  FatTree tree;
  tree.k = 4;
  CHECK(tree.refusal({}, 17).find("k = 4 makes a tree of 16 hosts, but the ranks (servers included) are 17") == 0);
  CHECK(tree.refusal({}, 16).empty());
  Torus torus;
  torus.shape = {3, 3};
  CHECK(torus.refusal({}, 10).find("shape = [3, 3] has 9 hosts, but the ranks") == 0);
  torus.shape = {400, 400};
  CHECK(torus.refusal({}, 10) == "shape = [400, 400] has 160000 hosts; expected at most 131072");
  torus.shape = std::vector<double>(17, 2);
  CHECK(torus.refusal({}, 10).find("17 dimensions of 131072 hosts make 2228224 links; expected at most 1000000") == 0);
  torus.shape = {512, 2};
  CHECK(torus.refusal({}, 1024).empty());
  CHECK(RingOfHosts{}.refusal({}, 131'072).empty());
  CHECK(Dragonfly{}.refusal({}, 73).find("9 groups x 4 routers x 2 hosts are 72, but the ranks") == 0);
  CHECK(Wan{}.refusal({}, 4).find("a wan needs sites") == 0);
  Dragonfly fly;
  fly.groups = 1024;
  fly.routers = 64;
  CHECK(fly.refusal({}, 9).find("1024 groups x 64 routers make 2588160 links; expected at most 1000000: have") == 0);
  CHECK(TwoTier{}.refusal({}, 131'073) == "131073 hosts are too many; expected at most 131072");
}

}  // namespace topologies_test
