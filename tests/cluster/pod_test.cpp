// Pods: GPU hosts on leaf and spine switches, with and without rails.
#include "cluster/topologies/pod.h"

#include <numeric>
#include <set>
#include <utility>

#include "catch.h"
#include "cluster/cabled.h"
#include "record/record.h"

namespace pod_test {

using namespace simgrad;
using namespace simgrad::cluster;
using namespace simgrad::tests;
using namespace simgrad::tests::cabled;

namespace {

constexpr double nvlink_B = 100 * B;
constexpr double nvlink_L = 2e-6;

/// Hosts of two devices and two NICs, two hosts a group.
Pod small() {
  Pod pod;
  pod.devices = 2;
  pod.nics = 2;
  pod.hosts_per_group = 2;
  pod.nvlink_bandwidth_bytes_per_s = nvlink_B;
  pod.nvlink_latency_s = nvlink_L;
  return pod;
}

}  // namespace

TEST_CASE("pod with rails: NIC j of a group's hosts is on leaf j, and every leaf on every spine") {
  const Options options = with(small(), 8);  // 4 hosts, 2 groups, 4 leaf switches of 2 NICs, so 2 spine switches
  const auto all = cables(options, 8);
  CHECK(count(all, "nvlink") == 8);
  CHECK(count(all, "nic") == 4 * 2);
  CHECK(count(all, "spine") == 4 * 2);
  check_paths(options, 8, 4, 2);  // from a device to its NIC no link is crossed
  // Bisection, a group and a spine switch on either side: NICs / 2 B. Nodes: 8 devices, 4 switches, 8 NICs, 4 leaves.
  const auto half = [](int node) {
    return node < 4 || node == 8 || node == 9 || (node >= 12 && node < 16) || node == 20 || node == 21 || node == 24;
  };
  CHECK(cut(all, half) == 8 / 2 * B);
  CHECK(options.topology->locality(5, 8) == 2);
  CHECK(options.topology->locality(8, 8) == 8);
}

TEST_CASE("a message in a pod takes NVLink in its host, one leaf on its rail, and a spine between rails or groups") {
  const Options options = with(small(), 8);
  CHECK(route(options, 8, 0, 1) == "nvlink-0_UP nvlink-1_DOWN ");
  CHECK(message_s(options, 8, 0, 1) == nine(nvlink_L + M / nvlink_B));
  CHECK(route(options, 8, 0, 2) == "nic-0_UP nic-2_DOWN ");
  CHECK(message_s(options, 8, 0, 2) == nine(L + M / B));
  // To another rail of the group over spine 1, the number of the receiver's host.
  CHECK(route(options, 8, 0, 3) == "nic-0_UP spine-1_UP spine-3_DOWN nic-3_DOWN ");
  CHECK(message_s(options, 8, 0, 3) == nine(2 * L + M / B));
  // To the own rail of group 1: its leaf is the third, host 2 takes spine 0.
  CHECK(route(options, 8, 0, 4) == "nic-0_UP spine-0_UP spine-4_DOWN nic-4_DOWN ");
  CHECK(message_s(options, 8, 0, 4) == nine(2 * L + M / B));
}

TEST_CASE("pod without rails: all NICs of a group's hosts are on one leaf") {
  Pod pod = small();
  pod.rails = false;
  pod.link_latency_s = 3 * L;
  const Options options = with(pod, 8);
  const auto all = cables(options, 8);
  CHECK(count(all, "spine") == 2 * 4);  // two leaf switches of 4 NICs
  check_paths(options, 8, 4, 2);
  CHECK(cut(all, [](int node) {
          return node < 4 || node == 8 || node == 9 || (node >= 12 && node < 16) || node == 20 || node == 22 ||
                 node == 23;
        }) == 8 / 2 * B);
  CHECK(route(options, 8, 0, 3) == "nic-0_UP nic-3_DOWN ");
  CHECK(message_s(options, 8, 0, 3) == nine(L + M / B));
  CHECK(route(options, 8, 0, 5) == "nic-0_UP spine-1_UP spine-5_DOWN nic-5_DOWN ");
  CHECK(message_s(options, 8, 0, 5) == nine(L + 2 * 3 * L + M / B));
}

TEST_CASE("oversubscription divides what a leaf has upwards") {
  Pod pod = small();
  const std::vector<Transfer> across{{0, 4, d}, {2, 6, d}};  // both NICs of a leaf to another group, by two spines
  for (const double end : transfer_ends(with(pod, 8), 8, across)) CHECK(end == nine(2 * L + M / B));
  pod.oversubscription = 2;  // one spine, with a link of B for two NICs
  CHECK(count(cables(with(pod, 8), 8), "spine") == 4);
  for (const double end : transfer_ends(with(pod, 8), 8, across)) CHECK(end == nine(2 * L + 2 * M / B));
  pod.oversubscription = 4;
  for (const double end : transfer_ends(with(pod, 8), 8, across)) CHECK(end == nine(2 * L + 2 * M / (B / 2)));
  pod.spines = 2;  // the same bandwidth in two links of B / 4
  for (const double end : transfer_ends(with(pod, 8), 8, across)) CHECK(end == nine(2 * L + M / (B / 4)));
  const auto half = [](int node) {
    return node < 4 || node == 8 || node == 9 || (node >= 12 && node < 16) || node == 20 || node == 21 || node == 24;
  };
  CHECK(cut(cables(with(pod, 8), 8), half) == 8 / 2 * B / 4);
}

TEST_CASE("pod by ecmp: two pairs meet on a spine's link where their hashes are equal, and nowhere else") {
  Pod pod = small();
  pod.hosts_per_group = 4;
  pod.routing = Routing::ecmp;
  const Options options = with(pod, 16);  // 8 hosts, 2 groups, 4 spines
  const auto spine = [](int from, int to) { return hash_of_pair(from, to) % 4; };
  std::set<bool> seen;
  for (int one = 8; one < 16; one += 2)  // from hosts 0 and 1 to two hosts of group 1, all on rail 0
    for (int other = 8; other < 16; other += 2) {
      const bool meet = spine(0, one) == spine(2, other);
      if (one == other || !seen.insert(meet).second) continue;
      for (const double end : transfer_ends(options, 16, {{0, one, d}, {2, other, d}}))
        CHECK(end == nine(2 * L + (meet ? 2 : 1) * M / B));
    }
  CHECK(seen.size() == 2);
}

TEST_CASE("a note counts the pairs that share a link because a hash chose the ways of both") {
  Pod pod = small();
  pod.hosts_per_group = 4;
  const auto notes = [&](Routing routing, const std::vector<std::pair<int, int>>& pairs) {
    pod.routing = routing;
    return text_of_child([&, options = with(pod, 16)] {
      Cluster cluster(options, 16);
      World world(cluster, "notes", 16, 0);
      values::Dispatcher timing({.numbers = false, .label = {}});
      std::vector<int> all(16);
      std::iota(all.begin(), all.end(), 0);
      const auto members = std::make_shared<const std::vector<int>>(all);
      for (const auto& [from, to] : pairs) {
        world.ranks().start(
            from, [&, from = from, to = to] { Communicator(world, members, from, 0).send(to, timing.zeros(10)); });
        world.ranks().start(to, [&, from = from, to = to] { Communicator(world, members, to, 0).receive(from); });
      }
      cluster.run();
      world.end();
      record::Record record;
      world.fill(record);
      std::string text;
      for (const std::string& note : record.notes) text += note + "\n";
      return text;
    });
  };
  // From hosts 0 and 1 on rail 0 to two hosts of the other group; a third pair stays on its leaf and has no choice.
  std::set<bool> seen;
  for (int one = 8; one < 16; one += 2)
    for (int other = 8; other < 16; other += 2) {
      const bool meet = hash_of_pair(0, one) % 4 == hash_of_pair(2, other) % 4;
      if (one == other || !seen.insert(meet).second) continue;
      CHECK(notes(Routing::ecmp, {{0, one}, {2, other}, {4, 6}}) ==
            std::string(meet ? "2" : "0") +
                " of 2 pairs of hosts share a link between switches with another pair (routing = \"ecmp\")\n");
    }
  CHECK(seen.size() == 2);
  CHECK(notes(Routing::ecmp, {{4, 6}}) == "");
  CHECK(notes(Routing::destination, {{0, 8}, {2, 10}}) == "");
}

TEST_CASE("pxn: a message to another rail first goes by NVLink to the device on that rail") {
  Pod pod = small();
  pod.pxn = true;
  const Options options = with(pod, 8);
  CHECK(route(options, 8, 0, 3) == "nvlink-0_UP nvlink-1_DOWN nic-1_UP nic-3_DOWN ");
  CHECK(message_s(options, 8, 0, 3) == nine(nvlink_L + L + M / B));
  CHECK(route(options, 8, 0, 2) == "nic-0_UP nic-2_DOWN ");
  CHECK(route(options, 8, 0, 5) == "nvlink-0_UP nvlink-1_DOWN nic-1_UP spine-2_UP spine-6_DOWN nic-5_DOWN ");
  check_paths(options, 8, 6, 2);
}

TEST_CASE("servers of a pod are hosts of one NIC behind the workers, dealt to the rails") {
  const Options options = with(small(), 8);
  const auto all = cables(options, 10);
  CHECK(count(all, "nic") == 4 * 2 + 2);
  CHECK(count(all, "spine") == 6 * 2);  // a third group
  check_paths(options, 10, 4, 2);
  // Server 1 is on rail 1 of the third group, host 5 of the pod: spine 1.
  CHECK(route(options, 10, 1, 9) == "nic-1_UP spine-3_UP spine-11_DOWN nic-9_DOWN ");
  CHECK(message_s(options, 10, 9, 1) == nine(2 * L + M / B));
}

TEST_CASE("a pod of one leaf has no spine, and a part of one host is enough") {
  Pod pod = small();
  pod.rails = false;
  CHECK(count(cables(with(pod, 4), 4), "spine") == 0);
  CHECK(pod.workers_refusal(1).empty());
  CHECK(message_s(with(pod, 1), 2, 0, 1) == nine(L + M / B));  // a worker and a server
}

TEST_CASE("devices that do not fill hosts, and too many links, are refused with a remedy") {
  const Pod pod;
  CHECK(pod.workers_refusal(16'384).empty());
  CHECK(pod.workers_refusal(20) == "20 workers do not fill hosts of 8 devices; expected 16 or 24");
  CHECK(pod.refusal({}, 16'384).empty());
  Pod many;
  many.spines = 10'000;
  CHECK(many.refusal({}, 16'384) ==
        "512 leaf switches, each joined to 10000 spine switches, make 5120000 links; expected at most 1000000: set "
        "fewer spines, or more hosts_per_group");
}

}  // namespace pod_test
