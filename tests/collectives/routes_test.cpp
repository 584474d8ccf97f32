// Collectives on networks whose routes differ or share links: computed at the last arrival, and message by message.
#include <random>

#include "cluster/topologies/dragonfly.h"
#include "cluster/topologies/fat_tree.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/ring.h"
#include "cluster/topologies/torus.h"
#include "cluster/topologies/two_tier.h"
#include "collectives/all_to_all.h"
#include "collectives/allreduce.h"
#include "collectives/group.h"
#include "collectives/ring.h"

namespace routes_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using values::Dispatcher;

namespace {

std::vector<std::pair<std::string, Topology>> several_topologies() {
  return {
      {"gpu_hosts", topology_of<cluster::GpuHosts>([](auto& hosts) {
         hosts.devices = 4;
         hosts.nics = 2;
         hosts.nvlink_bandwidth_bytes_per_s = 7e9;
       })},
      {"fat_tree", topology_of<cluster::FatTree>()},
      {"torus", topology_of<cluster::Torus>()},
      {"dragonfly", topology_of<cluster::Dragonfly>([](auto& dragonfly) {
         dragonfly.groups = 3;
         dragonfly.global_bandwidth_bytes_per_s = 0.7e9;
       })},
      {"ring", topology_of<cluster::RingOfHosts>()},
      {"two_tier", topology_of<cluster::TwoTier>()},
  };
}

/// SimGrid lets events within 1e-12 s happen together, and sets a flow's weight two such intervals after its latency;
/// some fifty rounds add up to this.
constexpr double simgrid_precision_s = 2e-10;

Group on(const Topology& topology, int P) {
  Group group{.P = P, .numbers = false};
  group.topology = topology;
  return group;
}

Group::Outcome allreduce(const Group& group, std::string_view algorithm, std::int64_t d) {
  const auto chosen = collectives::allreduces().find(algorithm)->make();
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    return (*chosen)(comm, contributed(dispatcher, comm.rank(), d));
  });
}

}  // namespace

TEST_CASE("on every topology collectives take the same times computed and message by message") {
  for (const auto& [name, topology] : several_topologies())
    for (const std::string_view algorithm : {"ring", "recursive_doubling", "rabenseifner", "tree", "naive"})
      for (const int P : {2, 5, 8, 13, 16})
        for (const bool together : {true, false}) {
          CAPTURE(name, algorithm, P, together);
          Group group = on(topology, P);
          if (!together)
            for (int r = 0; r < P; ++r) group.arrivals.push_back(1e-5 * ((7 * r + 3) % 11));
          const Group::Outcome messages = allreduce(group, algorithm, 200'003);
          group.collectives = cluster::Collectives::automatic;
          check_equal(allreduce(group, algorithm, 200'003), messages, simgrid_precision_s);
        }
}

TEST_CASE("on random topologies, lengths and arrivals computed collectives equal those by messages") {
  std::mt19937 random(11);
  const auto all = several_topologies();
  const std::vector<std::string_view> algorithms{"ring", "recursive_doubling", "rabenseifner", "tree"};
  for (int trial = 0; trial < 60; ++trial) {
    const auto& [name, topology] = all[random() % all.size()];
    const std::string_view algorithm = algorithms[random() % algorithms.size()];
    const int P = 2 + static_cast<int>(random() % 15);
    const auto length = static_cast<std::int64_t>(random() % 300'000);
    CAPTURE(trial, name, algorithm, P, length);
    Group group = on(topology, P);
    for (int r = 0; r < P; ++r) group.arrivals.push_back(1e-6 * static_cast<double>(random() % 2000));
    const Group::Outcome messages = allreduce(group, algorithm, length);
    group.collectives = cluster::Collectives::automatic;
    check_equal(allreduce(group, algorithm, length), messages, simgrid_precision_s);
  }
}

TEST_CASE("reduce-scatter, all-gather and all-to-all go by routes, too") {
  for (const auto& [name, topology] : several_topologies())
    for (const int P : {3, 8, 13}) {
      CAPTURE(name, P);
      Group group = on(topology, P);
      for (int r = 0; r < P; ++r) group.arrivals.push_back(1e-5 * ((5 * r + 2) % 7));
      for (const bool scattered : {true, false}) {
        const auto run = [&] {
          return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
            const auto x = contributed(dispatcher, comm.rank(), 40'003);
            if (!scattered) return collectives::all_to_all(comm, x);
            return collectives::all_gather(comm, collectives::reduce_scatter(comm, x), x.size());
          });
        };
        group.collectives = cluster::Collectives::messages;
        const Group::Outcome messages = run();
        group.collectives = cluster::Collectives::automatic;
        check_equal(run(), messages, simgrid_precision_s);
      }
    }
}

TEST_CASE("a slow link and a world that ends in the middle are the same on both ways") {
  for (const double fraction : {0.2, 0.5, 0.9})
    for (const std::string_view algorithm : {"ring", "rabenseifner"}) {
      CAPTURE(fraction, algorithm);
      Group group = on(topology_of<cluster::Dragonfly>([](auto& dragonfly) { dragonfly.groups = 2; }), 9);
      group.slow_links.push_back({});
      group.slow_links.back().link = "nic-3";
      group.slow_links.back().factor = 0.25;
      for (int r = 0; r < group.P; ++r) group.arrivals.push_back(1e-5 * ((5 * r + 2) % 7));
      double last = 0.0;
      for (const auto& member : allreduce(group, algorithm, 100'003).members) last = std::max(last, member.end_s);
      group.end_s = fraction * last;
      const Group::Outcome messages = allreduce(group, algorithm, 100'003);
      group.collectives = cluster::Collectives::automatic;
      check_equal(allreduce(group, algorithm, 100'003), messages, simgrid_precision_s);
    }
}

// Racks of 2 joined by a core of B/2 each way: a ring's hop from rack to rack has it for itself, and recursive
// doubling's second round sends two flows through it.
TEST_CASE("times on two racks are those worked out by hand") {
  const auto racks = topology_of<cluster::TwoTier>([](auto& two_tier) {
    two_tier.hosts_per_rack = 2;
    two_tier.oversubscription = 4.0;
  });
  Group group = on(racks, 4);
  group.charge_reductions = false;
  group.collectives = cluster::Collectives::automatic;
  const double bytes = 8e6;
  const double across = 2 * alpha;  // two NICs and two core links, half of alpha each
  const double core = 2 * B / 4;
  CHECK(allreduce(group, "ring", 1'000'000).members[0].end_s == Approx(6 * (across + bytes / 4 / core)).epsilon(1e-9));
  CHECK(allreduce(group, "recursive_doubling", 1'000'000).members[0].end_s ==
        Approx(alpha + bytes / B + across + 2 * bytes / core).epsilon(1e-9));
}

TEST_CASE("a double binary tree is computed where its transfers are apart, and else goes by messages") {
  Group group =
      on(topology_of<cluster::GpuHosts>([](auto& hosts) { hosts.devices = 8; }), 8);  // a switch of NVLink alone
  const Group::Outcome messages = allreduce(group, "double_binary_tree", 200'003);
  group.collectives = cluster::Collectives::automatic;
  check_equal(allreduce(group, "double_binary_tree", 200'003), messages, simgrid_precision_s);
  group.topology = topology_of<cluster::RingOfHosts>();
  CHECK_THROWS_WITH(allreduce(group, "double_binary_tree", 200'003),
                    ContainsSubstring("may meet on ring-") && ContainsSubstring("must go message by message"));
}

TEST_CASE("two collectives of a group whose transfers may meet are given up") {
  Group group = on(topology_of<cluster::GpuHosts>([](auto& hosts) {
                     hosts.devices = 4;
                     hosts.nics = 2;
                   }),
                   8);
  group.collectives = cluster::Collectives::automatic;
  for (int r = 0; r < group.P; ++r) group.arrivals.push_back(1e-5 * ((5 * r + 2) % 7));
  // The first to have gathered begins to exchange with others before the last one has gathered.
  CHECK_THROWS_WITH(group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    const auto x = contributed(dispatcher, comm.rank(), 40'003);
    const auto chunk = collectives::reduce_scatter(comm, x);
    return collectives::all_to_all(comm, collectives::all_gather(comm, chunk, x.size()));
  }),
                    ContainsSubstring("may meet on nic-"));
}

}  // namespace routes_test
