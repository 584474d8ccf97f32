// The choice of `auto`: against the simulated times of every algorithm that it may choose.
#include "collectives/auto.h"

#include <algorithm>
#include <limits>
#include <set>

#include "cluster/ranks/local_groups.h"
#include "cluster/topologies/fat_tree.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/pod.h"
#include "cluster/topologies/ring.h"
#include "cluster/topologies/two_tier.h"
#include "collectives/group.h"
#include "collectives/hierarchical.h"
#include "collectives/nccl.h"
#include "share.h"

namespace auto_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using values::Dispatcher;

namespace {

struct Network {
  std::string name;
  Topology topology;
  std::int64_t nics = 0;  ///< of a host of several devices; 0: hosts have one
};

Topology gpu_hosts(std::int64_t nics) {
  return topology_of<cluster::GpuHosts>([&](auto& hosts) {
    hosts.devices = 8;
    hosts.nics = nics;
    hosts.nvlink_bandwidth_bytes_per_s = 100 * B;
  });
}

std::vector<Network> networks() {
  return {{"star", Topology(cluster::topologies(), "star")},
          {"gpu_hosts", gpu_hosts(1), 1},
          {"gpu_hosts with 4 NICs", gpu_hosts(4), 4},
          {"pod", topology_of<cluster::Pod>([](auto& pod) {
             pod.hosts_per_group = 2;
             pod.oversubscription = 2.0;
           }),
           8},
          {"fat_tree", topology_of<cluster::FatTree>()},
          {"two_tier", topology_of<cluster::TwoTier>()},
          {"ring", topology_of<cluster::RingOfHosts>()}};
}

double end_s(const Group& group, const collectives::Allreduce& algorithm, std::int64_t d) {
  const auto outcome =
      group.run([&](const Communicator& comm, Dispatcher& dispatcher) { return algorithm(comm, dispatcher.zeros(d)); });
  double last = 0.0;
  for (const auto& member : outcome.members) last = std::max(last, member.end_s);
  return last;
}

/// The time of the algorithm, message by message where its rings meet on a link.
double computed_or_by_messages(Group group, const collectives::Allreduce& algorithm, std::int64_t d) {
  try {
    return end_s(group, algorithm, d);
  } catch (const std::exception&) {
    group.collectives = cluster::Collectives::messages;
    return end_s(group, algorithm, d);
  }
}

/// The name of the algorithm that auto chooses.
std::string choice(Group group, std::int64_t d) {
  group.numbers = true;
  const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    collectives::Auto().chosen(comm, d);
    const std::string& name = comm.local_groups().chosen_sums.begin()->second.name;
    return dispatcher.constant(std::vector<double>(name.begin(), name.end()));
  });
  const std::vector<double>& letters = outcome.members.back().result;
  return {letters.begin(), letters.end()};
}

/// The algorithms by their kinds; nccl with a ring for each NIC where there are several hosts,
/// and calls that take no time.
std::vector<std::pair<std::string, std::unique_ptr<collectives::Allreduce>>> candidates(const Network& network, int P) {
  std::vector<std::pair<std::string, std::unique_ptr<collectives::Allreduce>>> all;
  for (const std::string kind : {"recursive_doubling", "rabenseifner", "ring", "tree", "double_binary_tree"})
    all.emplace_back(kind, collectives::allreduces().find(kind)->make());
  if (network.nics == 0) return all;
  all.emplace_back("hierarchical", std::make_unique<collectives::Hierarchical>());
  auto nccl = std::make_unique<collectives::Nccl>();
  nccl->rings = P > 8 ? network.nics : 1;
  nccl->call_s = 0.0;
  all.emplace_back("nccl", std::move(nccl));
  return all;
}

}  // namespace

TEST_CASE("auto takes no longer than 1.001 times the fastest algorithm that it may choose") {
  Share share;
  for (const Network& network : networks())
    for (const int P : {2, 3, 4, 7, 8, 12, 16, 32, 64}) {
      if (network.nics > 0 && P > 8 && P % 8 != 0) continue;
      for (const std::int64_t d : {125, 1'250, 12'500, 125'000, 1'250'000, 125'000'000}) {
        if (!share.next()) continue;
        Group group{.P = P, .numbers = false, .collectives = cluster::Collectives::automatic};
        group.topology = network.topology;
        const double auto_s = end_s(group, collectives::Auto(), d);
        double best_s = std::numeric_limits<double>::infinity();
        std::string best;
        for (const auto& [kind, algorithm] : candidates(network, P)) {
          if (kind == "double_binary_tree" && d > 2'000'000) continue;  // thousands of rounds
          const double seconds = computed_or_by_messages(group, *algorithm, d);
          if (seconds < best_s) best = kind, best_s = seconds;
        }
        CAPTURE(network.name, P, d, best);
        CHECK(auto_s <= 1.001 * best_s);
      }
    }
}

TEST_CASE("on a star auto goes from recursive doubling to rabenseifner where their cost lines cross") {
  // P = 8: 3 (alpha + M beta + M gamma) against 6 alpha + 7/4 M beta + 7/8 M gamma.
  const Group group{.P = 8, .numbers = false};
  const double beta = 1.0 / B, crossing = 3 * alpha / (3 * (beta + gamma_s) - 7.0 / 4 * beta - 7.0 / 8 * gamma_s);
  const auto d = static_cast<std::int64_t>(crossing / 8);
  CHECK(choice(group, d - 8) == "recursive_doubling");
  CHECK(choice(group, d + 8) == "rabenseifner");
}

TEST_CASE("auto's numbers, times and messages are those of the algorithm that it chooses, whichever way it goes") {
  Share share;
  for (const Network& network : networks())
    for (const int P : {3, 8, 16})
      for (const std::int64_t d : {0, 1'000, 40'000}) {
        if (!share.next()) continue;
        CAPTURE(network.name, P, d);
        Group group{.P = P, .collectives = cluster::Collectives::automatic};
        group.topology = network.topology;
        for (int r = 0; r < P; ++r) group.arrivals.push_back(1e-5 * ((7 * r + 3) % 11));
        const std::string chosen_kind = choice(group, d);
        const auto& all = candidates(network, P);
        const auto same =
            std::ranges::find_if(all, [&](const auto& one) { return chosen_kind.starts_with(one.first); });
        REQUIRE(same != all.end());
        const auto outcome = [&](const collectives::Allreduce& algorithm) {
          return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
            return algorithm(comm, contributed(dispatcher, comm.rank(), d));
          });
        };
        for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic}) {
          group.collectives = way;
          const auto of_auto = outcome(collectives::Auto());
          if (chosen_kind == "hierarchical")
            group.collectives = cluster::Collectives::messages;  // its rings may share NICs
          check_equal(of_auto, outcome(*same->second), 2e-10);
        }
        const double with_numbers_s = end_s(group, collectives::Auto(), d);
        group.numbers = false;
        CHECK(end_s(group, collectives::Auto(), d) == with_numbers_s);
      }
}

TEST_CASE("on slow links and on NICs that are shared auto chooses another algorithm than on equal ones") {
  // Two of eight members meet on one slow NIC: whoever sends fewest bytes through it wins.
  Group group{.P = 8, .numbers = false, .collectives = cluster::Collectives::automatic};
  const std::string equal = choice(group, 5'000);
  CHECK(equal == "recursive_doubling");
  group.slow_links.emplace_back();
  group.slow_links.back().link = "nic-3";
  group.slow_links.back().factor = 0.05;
  CHECK(choice(group, 5'000) != equal);
}

}  // namespace auto_test
