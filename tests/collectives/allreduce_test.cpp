// Every allreduce algorithm: the right result on every rank, and the same by messages and at the last arrival.
#include "collectives/allreduce.h"

#include <algorithm>
#include <cmath>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "collectives/group.h"
#include "share.h"

namespace allreduce_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using collectives::Reduction;
using values::Dispatcher;

namespace {

Group::Outcome allreduce(const Group& group, std::string_view algorithm, std::int64_t d,
                         Reduction reduction = Reduction::sum) {
  const auto chosen = collectives::allreduces().find(algorithm)->make();
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    return (*chosen)(comm, contributed(dispatcher, comm.rank(), d), reduction);
  });
}

std::vector<std::string_view> algorithms() {
  std::vector<std::string_view> all;
  for (const auto& entry : collectives::allreduces().entries()) all.push_back(entry.about.kind);
  return all;
}

std::vector<double> expected(int P, std::int64_t d, Reduction reduction) {
  std::vector<double> all = contribution(0, d);
  for (int r = 1; r < P; ++r) {
    const std::vector<double> x = contribution(r, d);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = reduction == Reduction::max   ? std::max(all[i], x[i])
               : reduction == Reduction::min ? std::min(all[i], x[i])
                                             : all[i] + x[i];
  }
  if (reduction == Reduction::mean)
    for (double& a : all) a /= P;
  return all;
}

/// Slices of a ring follow each other as precisely as SimGrid's events.
double precision_s(std::string_view algorithm) { return algorithm == "nccl" ? 1e-10 : 1e-15; }

Group staggered(int P) {
  Group group{.P = P};
  for (int r = 0; r < P; ++r) {
    group.arrivals.push_back(1e-5 * ((7 * r + 3) % 11));
    group.speeds.push_back(1.0 / (1 + r % 3));
  }
  return group;
}

}  // namespace

TEST_CASE("every allreduce gives every rank the sum, bit for bit the same") {
  Share share;
  for (const std::string_view algorithm : algorithms())
    for (int P = 1; P <= 16; ++P)
      for (const std::int64_t d : lengths(P)) {
        if (!share.next()) continue;
        CAPTURE(algorithm, P, d);
        const Group::Outcome outcome =
            allreduce({.P = P, .devices = algorithm == "hierarchical" ? 4 : 1}, algorithm, d);
        const std::vector<double> sum = expected(P, d, Reduction::sum);
        REQUIRE(outcome.members[0].result.size() == sum.size());
        for (const Group::Member& member : outcome.members) REQUIRE(member.result == outcome.members[0].result);
        for (std::size_t i = 0; i < sum.size(); ++i)
          REQUIRE(outcome.members[0].result[i] == Approx(sum[i]).epsilon(1e-14));
      }
}

TEST_CASE("every allreduce also makes a mean, a maximum and a minimum") {
  for (const std::string_view algorithm : algorithms())
    for (const Reduction reduction : {Reduction::mean, Reduction::max, Reduction::min})
      for (const auto way : {cluster::Collectives::automatic, cluster::Collectives::messages}) {
        CAPTURE(algorithm, static_cast<int>(reduction), static_cast<int>(way));
        Group group{.P = 6, .collectives = way, .devices = algorithm == "hierarchical" ? 4 : 1};
        const Group::Outcome outcome = allreduce(group, algorithm, 1000, reduction);
        const std::vector<double> right = expected(6, 1000, reduction);
        for (const Group::Member& member : outcome.members) {
          REQUIRE(member.result == outcome.members[0].result);
          for (std::size_t i = 0; i < right.size(); ++i) REQUIRE(member.result[i] == Approx(right[i]).epsilon(1e-14));
        }
      }
}

TEST_CASE("at the last arrival and message by message every rank's times, bytes and numbers are the same") {
  Share share(7);  // beside four lengths
  for (const std::string_view algorithm : algorithms())
    for (int P = 1; P <= 16; ++P)
      for (const std::int64_t d : {std::int64_t{0}, std::int64_t{P - 1}, std::int64_t{1000}, std::int64_t{200'003}}) {
        if (!share.next()) continue;
        CAPTURE(algorithm, P, d);
        Group group = staggered(P);
        group.numbers = d < 2000;
        const Group::Outcome messages = allreduce(group, algorithm, d);
        group.collectives = cluster::Collectives::automatic;
        check_equal(allreduce(group, algorithm, d), messages, precision_s(algorithm));
      }
}

TEST_CASE("a world that ends in the middle of a collective is cut the same on both ways") {
  for (const std::string_view algorithm : algorithms())
    for (const int P : {2, 5, 8})
      for (const double fraction : {0.1, 0.35, 0.5, 0.85, 0.99}) {
        Group group = staggered(P);
        group.numbers = false;
        double last = 0.0;
        for (const auto& member : allreduce(group, algorithm, 100'000).members) last = std::max(last, member.end_s);
        group.end_s = fraction * last;
        CAPTURE(algorithm, P, fraction);
        Group::Outcome messages = allreduce(group, algorithm, 100'000);
        group.collectives = cluster::Collectives::automatic;
        check_equal(allreduce(group, algorithm, 100'000), messages, precision_s(algorithm));
      }
}

TEST_CASE("a world that ends before the last rank has come is cut the same on both ways") {
  for (const std::string_view algorithm : algorithms()) {
    CAPTURE(algorithm);
    Group group{.P = 8, .arrivals = {0, 0, 0, 0, 0, 0, 0, 1.0}, .numbers = false, .end_s = 0.5};
    const Group::Outcome messages = allreduce(group, algorithm, 100'000);
    CHECK(messages.messages > 0);
    group.collectives = cluster::Collectives::automatic;
    check_equal(allreduce(group, algorithm, 100'000), messages, precision_s(algorithm));
  }
}

TEST_CASE("with an efficiency and a limit of each flow a collective is the same on both ways") {
  for (const std::string_view algorithm : algorithms())
    for (const double limit : {B / 20, B / 2}) {
      CAPTURE(algorithm, limit);
      Group group = staggered(7);
      group.efficiency = 0.8;
      group.flow_limit = limit;
      const Group::Outcome messages = allreduce(group, algorithm, 10'000);
      group.collectives = cluster::Collectives::automatic;
      check_equal(allreduce(group, algorithm, 10'000), messages, precision_s(algorithm));
    }
}

TEST_CASE("a limit of each flow between hosts of several devices is the same on both ways") {
  constexpr double precision_s = 1e-10;  // SimGrid's, a few times: flows share links of a host's devices
  for (const std::string_view algorithm : {"ring", "recursive_doubling", "rabenseifner"})
    for (const double limit : {B / 20, B / 2}) {
      CAPTURE(algorithm, limit);
      Group group = staggered(8);
      group.devices = 4;
      group.flow_limit = limit;
      const Group::Outcome messages = allreduce(group, algorithm, 10'000);
      group.collectives = cluster::Collectives::automatic;
      check_equal(allreduce(group, algorithm, 10'000), messages, precision_s);
    }
}

TEST_CASE("a ring inside a host does not know the limit of flows, and one between hosts has it in every round") {
  constexpr double limit = B / 10, m = 8.0 * 10'000;
  for (const auto collectives : {cluster::Collectives::automatic, cluster::Collectives::messages}) {
    Group group{.P = 4, .charge_reductions = false, .collectives = collectives, .devices = 4, .flow_limit = limit};
    for (const auto& member : allreduce(group, "ring", 10'000).members)
      CHECK(member.end_s == Approx(6 * (device_alpha + m / 4 / device_B)).epsilon(1e-9));
    group.devices = 2;
    for (const auto& member : allreduce(group, "ring", 10'000).members)
      CHECK(member.end_s == Approx(6 * (alpha + m / 4 / limit)).epsilon(1e-9));
  }
}

TEST_CASE("a ring under ethernet has the goodput in every round") {
  constexpr double m = 8.0 * 10'000;
  Group group{.P = 4, .charge_reductions = false, .network_model = cluster::NetworkModel::ethernet};
  for (const auto way : {cluster::Collectives::automatic, cluster::Collectives::messages}) {
    group.collectives = way;
    for (const auto& member : allreduce(group, "ring", 10'000).members)
      CHECK(member.end_s == Approx(6 * (alpha + m / 4 / (B * 1448 / 1538))).epsilon(1e-9));
  }
}

TEST_CASE("several collectives, one after the other, are the same on both ways") {
  for (const std::string_view algorithm : {"ring", "rabenseifner", "tree"}) {
    const auto chosen = collectives::allreduces().find(algorithm)->make();
    Group group = staggered(7);
    const auto body = [&](const Communicator& comm, Dispatcher& dispatcher) {
      values::Tensor x = contributed(dispatcher, comm.rank(), 100);
      for (int step = 0; step < 5; ++step) {
        comm.world().ranks().compute(comm.rank(), 1e4 * ((step + 3 * comm.rank()) % 7));
        x = (*chosen)(comm, x);
      }
      return x;
    };
    const Group::Outcome messages = group.run(body);
    group.collectives = cluster::Collectives::automatic;
    check_equal(group.run(body), messages);
  }
}

TEST_CASE(
    "collectives at the last arrival need a network that is ideal or ethernet, and hosts whose crash stops all ranks") {
  cluster::Options options;
  const auto fast = [](const cluster::Options& chosen, bool many_to_many = false) {
    return numbers_of_child([&] {
             cluster::Cluster cluster(chosen, 2, many_to_many);
             cluster::World world(cluster, "w", 2, 0);
             return std::vector<double>{world.computes_collectives() ? 1.0 : 0.0};
           }) == std::vector<double>{1.0};
  };
  CHECK(fast(options));
  cluster::Options changed = options;
  changed.collectives = cluster::Collectives::messages;
  CHECK(!fast(changed));
  changed = options;
  changed.network_model = cluster::NetworkModel::tcp;
  CHECK(!fast(changed));
  changed.network_model = cluster::NetworkModel::ethernet;
  CHECK(fast(changed));
  changed.host_spec.latency_s = 0.5e-3;  // TCP's slow start
  CHECK(!fast(changed));
  changed.initial_window = 0;
  CHECK(fast(changed));
  changed = options;
  changed.slow_links.emplace_back().link = "nic-1";
  CHECK(fast(changed));
  changed = options;
  changed.topology = base::Slot<cluster::Topology>(cluster::topologies(), "ring");
  CHECK(fast(changed));
  changed = options;
  CHECK(fast(changed, true));
  changed.failures.crashes.push_back({});
  CHECK(fast(changed));
  CHECK(!fast(changed, true));  // messages beside collectives
  changed.failures.recovery = cluster::Recovery::keep_going;
  CHECK(!fast(changed));
  changed = options;
  changed.failures.links.choose("exponential");
  CHECK(!fast(changed));
  changed = options;
  auto star = std::make_unique<cluster::Star>();
  star->devices_per_host = 2;
  changed.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(star));
  CHECK(fast(changed));
}

TEST_CASE(
    "hierarchical says what to change where every rank has a host of its own, on a platform file other than on a "
    "star") {
  const auto hierarchical = collectives::allreduces().find("hierarchical")->make();
  cluster::Options options;
  CHECK(hierarchical->refusal(options).find("devices = 4") != std::string::npos);
  options.platform = "hosts.xml";
  const std::string advice = hierarchical->refusal(options);
  CHECK(advice.find("platform") != std::string::npos);
  CHECK(advice.find("devices = 4") == std::string::npos);
  CHECK(advice.find("ring") != std::string::npos);
  cluster::Options several;
  auto star = std::make_unique<cluster::Star>();
  star->devices_per_host = 2;
  several.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(star));
  CHECK(hierarchical->refusal(several).empty());
}

}  // namespace allreduce_test
