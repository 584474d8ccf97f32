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

using Topology = base::Slot<cluster::Topology>;

template <class Kind>
Topology topology(const std::function<void(Kind&)>& set = [](Kind&) {}) {
  auto its = std::make_unique<Kind>();
  set(*its);
  return Topology(cluster::topologies(), std::move(its));
}

std::vector<std::pair<std::string, Topology>> several_topologies() {
  return {
      {"gpu_hosts", topology<cluster::GpuHosts>([](auto& its) {
         its.devices = 4;
         its.nics = 2;
         its.nvlink_bandwidth_bytes_per_s = 7e9;
       })},
      {"fat_tree", topology<cluster::FatTree>()},
      {"torus", topology<cluster::Torus>()},
      {"dragonfly", topology<cluster::Dragonfly>([](auto& its) {
         its.groups = 3;
         its.global_bandwidth_bytes_per_s = 0.7e9;
       })},
      {"ring", topology<cluster::RingOfHosts>()},
      {"two_tier", topology<cluster::TwoTier>()},
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
    return (*chosen)(comm, dispatcher.constant(contribution(comm.rank(), d)));
  });
}

}  // namespace

TEST_CASE("on every topology collectives take the same times computed and message by message") {
  for (const auto& [name, topology] : several_topologies())
    for (const std::string_view algorithm :
         {"ring", "recursive_doubling", "rabenseifner", "tree", "double_binary_tree", "naive"})
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

}  // namespace routes_test
