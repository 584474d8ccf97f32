// Collectives under `ethernet`, computed and by messages: frames take bandwidth on every link between hosts.
#include <algorithm>

#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/two_tier.h"
#include "collectives/all_to_all.h"
#include "collectives/group.h"
#include "collectives/ring.h"

namespace ethernet_collectives_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using values::Dispatcher;

namespace {

using Operation = std::function<values::Tensor(const Communicator&, const values::Tensor&)>;

Operation sum_by(std::string_view algorithm) {
  const std::shared_ptr<collectives::Allreduce> allreduce = collectives::allreduces().find(algorithm)->make();
  return [allreduce](const Communicator& comm, const values::Tensor& x) { return (*allreduce)(comm, x); };
}

Group::Outcome run(Group group, cluster::Collectives way, const Operation& operation, std::int64_t d) {
  group.collectives = way;
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    return operation(comm, contributed(dispatcher, comm.rank(), d));
  });
}

/// Networks on which messages of one collective are on one link at one time, and one on which they are not.
std::vector<Topology> networks() {
  const auto hosts = [](std::int64_t nics) {
    return topology_of<cluster::GpuHosts>([nics](auto& gpu_hosts) {
      gpu_hosts.devices = 4;
      gpu_hosts.nics = nics;
      gpu_hosts.nvlink_bandwidth_bytes_per_s = device_B;
      gpu_hosts.nvlink_latency_s = device_alpha;
    });
  };
  return {Topology(cluster::topologies(), "star"), hosts(1), hosts(2),
          topology_of<cluster::TwoTier>([](auto& racks) { racks.hosts_per_rack = 2; })};
}

}  // namespace

TEST_CASE("collectives under ethernet take the same time on both ways, with what is on their links") {
  for (const Topology& topology : networks())
    for (const std::optional<double> limit : {std::optional<double>(), std::optional(0.3 * B)})
      for (const auto& [name, operation] : {std::pair<std::string, Operation>("ring", sum_by("ring")),
                                            {"rabenseifner", sum_by("rabenseifner")},
                                            {"recursive_doubling", sum_by("recursive_doubling")},
                                            {"all to all", collectives::all_to_all}}) {
        CAPTURE(topology.kind(), limit.has_value(), name);
        Group group{.P = 8, .network_model = cluster::NetworkModel::ethernet};
        group.arrivals = {0.0, 1e-4, 0.0, 3e-5, 0.0, 0.0, 2e-4, 0.0};
        group.topology = topology;
        group.flow_limit = limit;
        const auto computed = run(group, cluster::Collectives::automatic, operation, 8'000);
        const auto messages = run(group, cluster::Collectives::messages, operation, 8'000);
        for (std::size_t m = 0; m < messages.members.size(); ++m) {
          CHECK(computed.members[m].end_s == Approx(messages.members[m].end_s).epsilon(1e-9));
          CHECK(computed.members[m].result == messages.members[m].result);
          CHECK(computed.members[m].bytes_sent == messages.members[m].bytes_sent);
        }
      }
}

TEST_CASE("rings that divide the links of hosts divide their goodput") {
  Group group{.P = 8, .charge_reductions = false, .numbers = false, .network_model = cluster::NetworkModel::ethernet};
  group.topology = networks()[1];
  const auto end_s = [&](const Group& of) {
    collectives::Ring ring;
    ring.rings = 2;
    ring.slices = 2;
    const auto outcome = run(
        of, cluster::Collectives::automatic,
        [&](const Communicator& comm, const values::Tensor& x) { return ring(comm, x); }, 80'000'000);
    double last = 0.0;
    for (const auto& member : outcome.members) last = std::max(last, member.end_s);
    return last;
  };
  Group ideal = group;
  ideal.network_model = cluster::NetworkModel::ideal;
  // Latencies are a millionth of it.
  CHECK(end_s(group) / end_s(ideal) == Approx(1538.0 / 1448.0).epsilon(1e-3));
}

// Chunks of 100 kB over 1 ms: a window of 14,600 bytes, another of twice as much, and the rest in the third round trip.
// From the second round on each connection has a window of 114,600 bytes. RFC 5681 and RFC 6928.
TEST_CASE("a ring over links of 1 ms begins with slow start, and its other rounds are as long as without") {
  constexpr double L = 1e-3, c = 100'000.0, goodput = B * 1448.0 / 1538.0;
  Group group{.P = 4, .charge_reductions = false, .network_model = cluster::NetworkModel::ethernet};
  group.latency_s = L;
  const double round_s = L + c / goodput, slow_s = 2 * 2 * L - 3 * 14'600.0 / goodput;
  for (const cluster::Collectives way : {cluster::Collectives::automatic, cluster::Collectives::messages})
    for (const auto& member : run(group, way, sum_by("ring"), 4 * 12'500).members)
      CHECK(member.end_s == Approx(slow_s + 6 * round_s).epsilon(1e-9));
}

TEST_CASE("an all-to-all over links of 1 ms begins with slow start on each connection") {
  constexpr double L = 1e-3, c = 100'000.0, goodput = B * 1448.0 / 1538.0;
  Group group{.P = 4, .charge_reductions = false, .network_model = cluster::NetworkModel::ethernet};
  group.latency_s = L;
  const double slow_s = 2 * 2 * L - 3 * 14'600.0 / goodput;
  // A message to each of three others, one after another.
  for (const cluster::Collectives way : {cluster::Collectives::automatic, cluster::Collectives::messages})
    for (const auto& member : run(group, way, collectives::all_to_all, 4 * 12'500).members)
      CHECK(member.end_s == Approx(3 * (L + slow_s + c / goodput)).epsilon(1e-9));
}

}  // namespace ethernet_collectives_test
