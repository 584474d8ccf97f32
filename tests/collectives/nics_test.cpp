// Collectives on hosts with several NICs: the bandwidth of all of them, in as many rings.
#include <algorithm>

#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/pod.h"
#include "collectives/all_to_all.h"
#include "collectives/group.h"
#include "collectives/nccl.h"
#include "collectives/ring.h"

namespace nics_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Collectives;
using cluster::Communicator;
using collectives::Rings;
using values::Dispatcher;

namespace {

constexpr int devices = 4;

template <class Hosts>
Topology hosts_with(std::int64_t nics) {
  return topology_of<Hosts>([nics](auto& hosts) {
    hosts.devices = devices;
    hosts.nics = nics;
    hosts.nvlink_bandwidth_bytes_per_s = device_B;
    hosts.nvlink_latency_s = device_alpha;
  });
}

Topology pod_with_pxn() {
  return topology_of<cluster::Pod>([](auto& pod) {
    pod.devices = pod.nics = devices;
    pod.pxn = true;
  });
}

Group on(const Topology& topology, int P) {
  Group group{.P = P, .collectives = Collectives::automatic};
  group.topology = topology;
  return group;
}

/// A sum, or one of its halves.
using Operation = std::function<values::Tensor(const Communicator&, const values::Tensor&, const Rings&)>;

values::Tensor sum(const Communicator& comm, const values::Tensor& x, const Rings& rings) {
  collectives::Ring ring;
  ring.rings = rings;
  return ring(comm, x);
}

values::Tensor halves(const Communicator& comm, const values::Tensor& x, const Rings& rings) {
  return collectives::gather_shards(comm, collectives::sum_shard(comm, x, rings), x.size(), rings);
}

values::Tensor other_halves(const Communicator& comm, const values::Tensor& x, const Rings&) {
  return collectives::all_gather(comm, collectives::reduce_scatter(comm, x), x.size());
}

Group::Outcome run(const Group& group, const Operation& operation, std::int64_t d, const Rings& rings = {}) {
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    return operation(comm, contributed(dispatcher, comm.rank(), d), rings);
  });
}

double end_s(const Group::Outcome& outcome) {
  double last = 0.0;
  for (const auto& member : outcome.members) last = std::max(last, member.end_s);
  return last;
}

void check_near(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-14));
}

}  // namespace

TEST_CASE("on hosts with k NICs a ring's sum takes 2 (P-1) rounds of alpha and the k-th part of a chunk over B") {
  constexpr int P = 3 * devices;
  constexpr std::int64_t d = P * devices * 10'000;
  constexpr double chunk_s = 8.0 * d / P / B;
  for (const Operation& operation : {Operation(sum), Operation(halves), Operation(other_halves)})
    for (const int k : {1, 2, 4})
      for (const auto way : {Collectives::messages, Collectives::automatic}) {
        CAPTURE(k);
        Group group = on(hosts_with<cluster::GpuHosts>(k), P);
        group.collectives = way;
        group.charge_reductions = group.numbers = false;
        CHECK(end_s(run(group, operation, d)) == Approx(2 * (P - 1) * (alpha + chunk_s / k)).epsilon(1e-9));
      }
}

TEST_CASE("one ring, or two, can be asked for on hosts with four NICs") {
  constexpr int P = 3 * devices;
  constexpr std::int64_t d = P * devices * 10'000;
  Group group = on(hosts_with<cluster::GpuHosts>(4), P);
  group.charge_reductions = group.numbers = false;
  for (const Operation& operation : {Operation(sum), Operation(halves)})
    for (const int rings : {1, 2, 4, 9}) {  // no more than the devices of a host
      CAPTURE(rings);
      CHECK(end_s(run(group, operation, d, rings)) ==
            Approx(2 * (P - 1) * (alpha + 8.0 * d / P / B / std::min(rings, 4))).epsilon(1e-9));
    }
}

TEST_CASE("where links inside hosts are slower than all NICs, three of four rings are on them") {
  constexpr int P = 2 * devices;
  constexpr std::int64_t d = P * devices * 10'000;
  for (const auto way : {Collectives::messages, Collectives::automatic}) {
    Group group = on(topology_of<cluster::GpuHosts>([](auto& hosts) {
                       hosts.devices = hosts.nics = devices;
                       hosts.nvlink_bandwidth_bytes_per_s = B;
                       hosts.nvlink_latency_s = device_alpha;
                     }),
                     P);
    group.collectives = way;
    group.charge_reductions = group.numbers = false;
    const double chunk_s = 8.0 * d / P / B;
    CHECK(end_s(run(group, sum, d)) == Approx(2 * (P - 1) * (device_alpha + 3 * chunk_s / 4)).epsilon(1e-9));
  }
}

TEST_CASE("in a pod rings go to the next rail across the spines, with the bandwidth of all NICs") {
  constexpr int P = 3 * devices;
  constexpr std::int64_t d = P * devices * 10'000;
  Group group = on(hosts_with<cluster::Pod>(devices), P);
  group.charge_reductions = group.numbers = false;
  const double across = 2 * alpha;  // a NIC and a link between leaf and spine at either end, half of alpha each
  CHECK(end_s(run(group, sum, d)) == Approx(2 * (P - 1) * (across + 8.0 * d / P / devices / B)).epsilon(1e-9));
}

TEST_CASE("several rings take the same times and give the same numbers computed and message by message") {
  const std::vector<std::pair<std::string, Topology>> topologies{{"four NICs", hosts_with<cluster::GpuHosts>(4)},
                                                                 {"two NICs", hosts_with<cluster::GpuHosts>(2)},
                                                                 {"three NICs", hosts_with<cluster::GpuHosts>(3)},
                                                                 {"pod", hosts_with<cluster::Pod>(2)},
                                                                 {"pxn", pod_with_pxn()}};
  const std::vector<Operation> operations{sum, halves, other_halves};
  for (const auto& [name, topology] : topologies)
    for (const Operation& operation : operations)
      for (const int P : {8, 11})
        for (const std::int64_t d : {5, 1'003})
          for (const int late : {0, 7}) {
            if (P == 11 && topology.kind() == "pod") continue;  // whose hosts are full
            // By PXN a device's NVLink carries others' messages: of two collectives in a row some may meet there.
            if (name == "pxn" && &operation != &operations.front()) continue;
            CAPTURE(name, P, d, late);
            Group group = on(topology, P);
            group.speeds = {1.0, 0.1};
            for (int r = 0; r < P; ++r) group.arrivals.push_back(1e-5 * late * ((7 * r + 3) % 11));
            const Group::Outcome computed = run(group, operation, d);
            group.collectives = Collectives::messages;
            check_equal(computed, run(group, operation, d), 2e-10);
          }
}

TEST_CASE("several rings add up what one does, and leave each member its shard") {
  for (const int P : {8, 12})
    for (const std::int64_t d : {3, 1'000}) {
      CAPTURE(P, d);
      const Group group = on(hosts_with<cluster::GpuHosts>(4), P);
      const auto shard = [](const Communicator& comm, const values::Tensor& x, const Rings& rings) {
        return collectives::sum_shard(comm, x, rings);
      };
      const auto whole = run(group, sum, d), of_one = run(group, sum, d, 1);
      const auto shards = run(group, shard, d), shards_of_one = run(group, shard, d, 1);
      for (std::size_t r = 0; r < whole.members.size(); ++r) {
        CHECK(whole.members[r].result == whole.members[0].result);
        check_near(whole.members[r].result, of_one.members[r].result);
        check_near(shards.members[r].result, shards_of_one.members[r].result);
        CHECK(whole.members[r].result == run(group, halves, d).members[r].result);
      }
      CHECK(whole.bytes == of_one.bytes);
    }
}

TEST_CASE("a world that ends in the middle and a slow NIC are the same on both ways for several rings") {
  for (const double fraction : {0.1, 0.5, 0.9}) {
    CAPTURE(fraction);
    Group group = on(hosts_with<cluster::GpuHosts>(4), 12);
    group.slow_links.push_back({});
    group.slow_links.back().link = "nic-2";
    group.slow_links.back().factor = 0.1;
    for (int r = 0; r < group.P; ++r) group.arrivals.push_back(1e-5 * ((5 * r + 2) % 7));
    group.end_s = fraction * end_s(run(group, sum, 100'003));
    const Group::Outcome computed = run(group, sum, 100'003);
    group.collectives = Collectives::messages;
    check_equal(computed, run(group, sum, 100'003), 2e-10);
  }
}

TEST_CASE("hosts of which a group has one device each are one ring, and groups of them use a NIC each") {
  constexpr int P = 4 * devices;
  constexpr std::int64_t d = 4 * 10'000;
  Group group = on(hosts_with<cluster::GpuHosts>(4), P);
  group.charge_reductions = group.numbers = false;
  const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    std::vector<int> across;
    for (int r = comm.rank() % devices; r < P; r += devices) across.push_back(r);
    return collectives::Ring()(comm.subgroup(across), dispatcher.zeros(d));
  });
  CHECK(end_s(outcome) == Approx(2 * 3 * (alpha + 8.0 * d / 4 / B)).epsilon(1e-9));
}

TEST_CASE("groups of every second device of a host use every second NIC") {
  constexpr int P = 2 * devices;
  constexpr std::int64_t d = 4 * 10'000;
  Group group = on(hosts_with<cluster::GpuHosts>(4), P);
  group.charge_reductions = group.numbers = false;
  const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    std::vector<int> across;
    for (int r = comm.rank() % 2; r < P; r += 2) across.push_back(r);
    return collectives::Ring()(comm.subgroup(across), dispatcher.zeros(d));
  });
  CHECK(end_s(outcome) == Approx(2 * 3 * (alpha + 8.0 * d / 4 / 2 / B)).epsilon(1e-9));
}

TEST_CASE("NCCL has a ring for each NIC, and so has a ring in slices") {
  Group group = on(hosts_with<cluster::GpuHosts>(4), 3 * devices);
  group.charge_reductions = group.numbers = false;
  constexpr std::int64_t d = 48'000'000;
  const auto with = [&](const Rings& rings) {
    collectives::Nccl nccl;
    nccl.call_s = 0.0;
    nccl.rings = rings;
    return end_s(
        group.run([&](const Communicator& comm, Dispatcher& dispatcher) { return nccl(comm, dispatcher.zeros(d)); }));
  };
  CHECK(with({}) == with(4));
  CHECK(with({}) < 0.3 * with(1));
  const auto in_slices = [&](const Rings& rings) {
    collectives::Ring ring;
    ring.slices = 4;
    ring.rings = rings;
    return end_s(
        group.run([&](const Communicator& comm, Dispatcher& dispatcher) { return ring(comm, dispatcher.zeros(d)); }));
  };
  CHECK(in_slices({}) == in_slices(4));
  CHECK(in_slices({}) < 0.3 * in_slices(1));
}

TEST_CASE("in an all-to-all every device sends by its own NIC") {
  // A host's last device sends one of the two messages of each round to another host.
  constexpr int P = 3 * devices;
  constexpr std::int64_t d = P * 10'000;
  Group group = on(hosts_with<cluster::GpuHosts>(devices), P);
  group.numbers = false;
  const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    return collectives::all_to_all(comm, dispatcher.zeros(d));
  });
  CHECK(end_s(outcome) == Approx((P - 1) * (alpha + 8.0 * d / P / B)).epsilon(1e-9));
}

}  // namespace nics_test
