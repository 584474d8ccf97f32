// Rings in slices: their closed form, and the same computed and message by message.
#include <algorithm>

#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/two_tier.h"
#include "collectives/group.h"
#include "collectives/hierarchical.h"
#include "collectives/ring.h"

namespace sliced_ring_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using values::Dispatcher;

namespace {

collectives::Ring ring(std::int64_t slices) {
  collectives::Ring sliced_ring;
  sliced_ring.slices = slices;
  return sliced_ring;
}

Group::Outcome allreduce(const Group& group, std::int64_t slices, std::int64_t d) {
  const collectives::Ring sliced_ring = ring(slices);
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    return sliced_ring(comm, contributed(dispatcher, comm.rank(), d));
  });
}

double last_end_s(const Group::Outcome& outcome) {
  double last = 0.0;
  for (const auto& member : outcome.members) last = std::max(last, member.end_s);
  return last;
}

struct Hop {
  double alpha = 0.0;
  double B = 1.0;
};

/// The longest walk: m + 1 consecutive hops of a slice of c bytes, and all slices that are left on the slowest of them.
double longest_walk(const std::vector<Hop>& hops, int slices, double c) {
  const int P = static_cast<int>(hops.size()), n = 2 * (P - 1);
  double longest = 0.0;
  for (int end = 0; end < P; ++end) {
    double walked = 0.0, slowest = 0.0;
    for (int m = 0; m < n; ++m) {
      const Hop& hop = hops[static_cast<std::size_t>(((end - m) % P + P) % P)];
      walked += hop.alpha + c / hop.B;
      slowest = std::max(slowest, c / hop.B);
      longest = std::max(longest, walked + (n * slices - 1 - m * slices) * slowest);
    }
  }
  return longest;
}

Group of_hosts(int hosts, int devices) {
  return {.P = hosts * devices,
          .charge_reductions = false,
          .numbers = false,
          .collectives = cluster::Collectives::automatic,
          .devices = devices};
}

std::vector<Hop> hops_of(const Group& group) {
  std::vector<Hop> hops;
  for (int r = 0; r < group.P; ++r)
    hops.push_back((r + 1) % group.devices == 0 ? Hop{alpha, B} : Hop{device_alpha, device_B});
  return hops;
}

template <class Kind>
base::Slot<cluster::Topology> topology(const std::function<void(Kind&)>& set) {
  auto new_topology = std::make_unique<Kind>();
  set(*new_topology);
  return base::Slot<cluster::Topology>(cluster::topologies(), std::move(new_topology));
}

}  // namespace

TEST_CASE("a ring in slices takes the longest walk over its hops") {
  for (const int P : {2, 5})
    for (const int slices : {2, 8})
      for (const std::int64_t of_slice : {1, 10'000, 1'000'000}) {
        CAPTURE(P, slices, of_slice);
        const Group group = of_hosts(P, 1);
        const double expected = longest_walk(std::vector<Hop>(static_cast<std::size_t>(P), {alpha, B}), slices,
                                             8.0 * static_cast<double>(of_slice));
        CHECK(last_end_s(allreduce(group, slices, P * slices * of_slice)) == Approx(expected).epsilon(1e-9));
      }
}

TEST_CASE("a ring in slices pays the latency of the hops between hosts, and not that of every round") {
  for (const int hosts : {2, 3})
    for (const std::int64_t of_slice : {1, 1000, 100'000}) {
      CAPTURE(hosts, of_slice);
      const Group group = of_hosts(hosts, 8);
      const double expected = longest_walk(hops_of(group), 4, 8.0 * static_cast<double>(of_slice));
      CHECK(last_end_s(allreduce(group, 4, 4 * group.P * of_slice)) == Approx(expected).epsilon(1e-9));
    }
  // Short slices: a chunk's 30 hops go twice through both crossings. In rounds each of the 30 takes alpha.
  const Group group = of_hosts(2, 8);
  const double c = 8.0;
  CHECK(last_end_s(allreduce(group, 2, 2L * group.P)) ==
        Approx(4 * (alpha + c / B) + 26 * (device_alpha + c / device_B) + c / B).epsilon(1e-9));
  CHECK(last_end_s(allreduce(group, 1, 2L * group.P)) == Approx(30 * (alpha + 2 * c / B)).epsilon(1e-9));
}

TEST_CASE("many bytes take the slowest hop's time, once the first slice has come") {
  const Group group = of_hosts(2, 4);
  const double c = 8e6;
  // The slices of a hop between hosts follow each other without a gap: 14 rounds of 4.
  CHECK(last_end_s(allreduce(group, 4, 32 * 1'000'000)) == Approx(alpha + 56 * c / B).epsilon(0.02));
}

TEST_CASE("a ring in slices sums in the order of a ring in rounds, bit for bit, with as many bytes") {
  for (const int P : {2, 5})
    for (const std::int64_t d : lengths(P))
      for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic}) {
        CAPTURE(P, d);
        const Group group{.P = P, .collectives = way};
        const Group::Outcome in_rounds = allreduce(group, 1, d), in_slices = allreduce(group, 3, d);
        for (int r = 0; r < P; ++r) {
          const auto& member = in_slices.members[static_cast<std::size_t>(r)];
          CHECK(member.result == in_rounds.members[static_cast<std::size_t>(r)].result);
          CHECK(member.bytes_sent == in_rounds.members[static_cast<std::size_t>(r)].bytes_sent);
        }
        CHECK(in_slices.messages == std::clamp<std::int64_t>(d / P, 1, 3) * in_rounds.messages);
      }
}

TEST_CASE("rings in slices take the same times computed and message by message") {
  for (const int devices : {1, 4})
    for (const int P : {2, 7})
      for (const std::int64_t d : {3, 200'003})
        for (const int late : {0, 1, 40}) {
          if (devices == 4 && P == 2) continue;
          CAPTURE(devices, P, d, late);
          Group group{.P = P, .speeds = {1.0, 0.1}, .devices = devices};
          for (int r = 0; r < P; ++r) group.arrivals.push_back(1e-5 * late * ((7 * r + 3) % 11));
          const Group::Outcome messages = allreduce(group, 3, d);
          group.collectives = cluster::Collectives::automatic;
          check_equal(allreduce(group, 3, d), messages, 2e-10);
        }
}

TEST_CASE("rings in slices are the same on both ways on slow links and when the world ends in the middle") {
  for (const double fraction : {0.1, 0.5, 2.0}) {
    CAPTURE(fraction);
    Group group{.P = 8};
    group.topology = topology<cluster::GpuHosts>([](auto& hosts) { hosts.devices = 4; });
    group.slow_links.push_back({});
    group.slow_links.back().link = "nvlink-2";
    group.slow_links.back().factor = 0.001;
    for (int r = 0; r < group.P; ++r) group.arrivals.push_back(1e-5 * ((5 * r + 2) % 7));
    group.end_s = fraction * last_end_s(allreduce(group, 2, 100'003));
    const Group::Outcome messages = allreduce(group, 2, 100'003);
    group.collectives = cluster::Collectives::automatic;
    check_equal(allreduce(group, 2, 100'003), messages, 2e-10);
  }
}

TEST_CASE("the two halves of a ring in slices are those of its sum, one after the other") {
  const Group group = of_hosts(2, 4);
  const std::int64_t of_slice = 1000;
  const collectives::Split split(collectives::Extent(2 * group.P * of_slice), group.P);
  const std::vector<double> free(static_cast<std::size_t>(group.P), 0.0);
  const cluster::AlphaBetaGamma costs{.latency_s = alpha, .bandwidth_bytes_per_s = B, .seconds_per_flop = free};
  const std::vector<double> at_once(static_cast<std::size_t>(group.P), 0.0);
  const double c = 8.0 * of_slice;
  // Half of the rounds: 2 (P-1) slices on a hop, or P-1 hops.
  const double half = std::max(alpha + 2 * (group.P - 1) * c / B, (group.P - 1) * (alpha + c / B) + c / B);
  for (const auto& schedule : {collectives::ring_reduce_scatter(split, 2), collectives::ring_all_gather(split, 2)}) {
    const auto timings = schedule->timings(costs, at_once, cluster::CollectiveTiming::uncut);
    for (const auto& member : timings) CHECK(member.end_s == Approx(half).epsilon(1e-9));
  }
}

TEST_CASE("a hierarchical allreduce in slices takes its three rings in slices, one after the other") {
  collectives::Hierarchical hierarchical;
  hierarchical.slices = 2;
  Group group = of_hosts(3, 2);
  group.topology = topology<cluster::GpuHosts>([](auto& hosts) {
    hosts.devices = hosts.nics = 2;
    hosts.nvlink_bandwidth_bytes_per_s = device_B;
    hosts.nvlink_latency_s = device_alpha;
  });
  for (const std::int64_t of_slice : {10, 100'000}) {
    CAPTURE(of_slice);
    const double c = 8.0 * static_cast<double>(of_slice);  // of a slice between hosts; 3 x 2 of them are a chunk inside
    const double half = device_alpha + 6 * c / device_B;
    const double across = longest_walk(std::vector<Hop>(3, {alpha, B}), 2, c);
    for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic}) {
      group.collectives = way;
      const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
        return hierarchical(comm, dispatcher.zeros(12 * of_slice));
      });
      CHECK(last_end_s(outcome) == Approx(2 * half + across).epsilon(1e-9).margin(2e-10));
    }
  }
}

TEST_CASE("several rings at once take the time of one with its part of the bytes and of the links") {
  Group group = of_hosts(3, 4);
  group.topology = topology<cluster::GpuHosts>([](auto& hosts) {
    hosts.devices = hosts.nics = 4;
    hosts.nvlink_bandwidth_bytes_per_s = device_B;
    hosts.nvlink_latency_s = device_alpha;
  });
  for (const int rings : {2, 4})
    for (const std::int64_t of_slice : {1, 100'000})
      for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic}) {
        CAPTURE(rings, of_slice);
        group.collectives = way;
        collectives::Ring several = ring(2);
        several.rings = rings;
        const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
          return several(comm, dispatcher.zeros(rings * 24 * of_slice));
        });
        double expected = 0.0;
        for (int q = 0; q < rings; ++q) {
          std::vector<Hop> hops;
          for (int place = 0; place < 12; ++place) {
            // The link of a device carries a hop of every ring, but of the one that leaves the host there.
            const int next = (place + q + 1) % 4;
            const int sharing = std::max(1, rings - (next < rings ? 1 : 0));
            hops.push_back(place % 4 == 3 ? Hop{alpha, B} : Hop{device_alpha, device_B / sharing});
          }
          expected = std::max(expected, longest_walk(hops, 2, 8.0 * static_cast<double>(of_slice)));
        }
        CHECK(last_end_s(outcome) == Approx(expected).epsilon(1e-9));
        CHECK(outcome.bytes == 2 * 11 * 8 * rings * 24 * of_slice);
      }
}

TEST_CASE("several rings give all ranks one sum, to the last bit") {
  collectives::Ring several = ring(2);
  several.rings = 3;
  for (const int devices : {1, 3})
    for (const std::int64_t d : {1, 5, 1000}) {
      CAPTURE(devices, d);
      const Group group{.P = 6, .arrivals = {0.0, 1e-4, 0.0, 2e-5}, .devices = devices};
      const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
        return several(comm, contributed(dispatcher, comm.rank(), d));
      });
      for (const auto& member : outcome.members) {
        REQUIRE(member.result == outcome.members[0].result);
        for (std::size_t i = 0; i < member.result.size(); ++i) {
          double sum = 0.0;
          for (int r = 0; r < 6; ++r) sum += contribution(r, d)[i];
          CHECK(member.result[i] == Approx(sum).epsilon(1e-14));
        }
        CHECK(member.compute_s + member.communicate_s + member.wait_s == Approx(last_end_s(outcome)).epsilon(1e-9));
      }
    }
}

TEST_CASE("slices that share a link go message by message") {
  Group group{.P = 4, .numbers = false, .collectives = cluster::Collectives::automatic};
  group.topology = topology<cluster::TwoTier>([](auto& racks) { racks.hosts_per_rack = 1; });
  CHECK_NOTHROW(allreduce(group, 2, 1000));
  const std::vector<std::vector<int>> across{{0, 2}, {1, 3}};  // two rings through one link of each rack
  group.topology = topology<cluster::TwoTier>([](auto& racks) { racks.hosts_per_rack = 2; });
  CHECK_THROWS_WITH(group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    const Communicator two = comm.subgroup(across[static_cast<std::size_t>(comm.rank() % 2)]);
    return ring(2)(two, dispatcher.zeros(1000));
  }),
                    ContainsSubstring("must go message by message"));
}

}  // namespace sliced_ring_test
