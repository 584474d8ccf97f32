// The network model `infiniband`: what a message alone takes, and which flows slow each other beyond sharing a card.
#include <array>
#include <utility>
#include <vector>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/membership.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace infiniband_test {

using namespace simgrad;
using cluster::Cluster;
using cluster::Communicator;
using cluster::World;

namespace {

constexpr double alpha = 1.5e-6;
constexpr double B = 12.5e9;  // 100 Gb/s
constexpr double rate = 0.96 * B;
// SimGrid's penalties: flows into one card, flows out of one card, and where the receiver has three or more.
constexpr double in_penalty = 0.965;
constexpr double out_penalty = 0.925;
constexpr double crowded = 1.35;

using Flow = std::pair<int, int>;  // from, to

/// The differences of host 4 from the other hosts of the star.
struct Unlike {
  double slow_link = 1.0;  ///< the part of its bandwidth that the link of host 4 has
  double crash_s = 0.0;    ///< when host 4 crashes; 0: never
};

/// All flows of n bytes start at once on a star of five hosts; when each is received, or 0 where it never is.
std::vector<double> ends(const std::vector<Flow>& flows, double n, Unlike unlike = {}) {
  return tests::numbers_of_child([&] {
    cluster::Options options;
    options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = alpha};
    options.network_model = cluster::NetworkModel::infiniband;
    options.slow_links.emplace_back();
    options.slow_links.back().link = "nic-4";
    options.slow_links.back().factor = unlike.slow_link;
    Cluster cluster(options, 5);
    World world(cluster, "flows", 5, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    const auto members = std::make_shared<const std::vector<int>>(std::vector<int>{0, 1, 2, 3, 4});
    std::vector<double> times(flows.size());
    for (int r = 0; r < 5; ++r)
      world.ranks().start(r, [&, r] {
        const Communicator comm(world, members, r, 0);
        std::vector<cluster::Pending> sends;
        for (std::size_t i = 0; i < flows.size(); ++i) {
          if (flows[i].first == r)
            sends.push_back(comm.start_send(flows[i].second, timing.zeros(static_cast<std::int64_t>(n / 8))));
          if (flows[i].second == r)
            world.ranks().start_side_actor(r, [&, i, beside = comm.for_side_actor()] {
              beside.receive(flows[i].first);
              times[i] = world.now();
            });
        }
        for (auto& send : sends) send.wait();
      });
    world.ranks().on_peer_lost = [](int) {};
    if (unlike.crash_s > 0.0) cluster.at(unlike.crash_s, [&] { world.membership().crash(4); });
    cluster.run();
    return times;
  });
}

constexpr double M = 1e8;

}  // namespace

TEST_CASE("a message under infiniband takes alpha + n / (0.96 B)") {
  for (const double n : {8.0, 8e3, 8e6, M}) CHECK(ends({{0, 1}}, n)[0] == Approx(alpha + n / rate).epsilon(1e-9));
}

TEST_CASE("both directions of a card are used at once under infiniband") {
  for (const double end : ends({{0, 1}, {1, 0}}, M)) CHECK(end == Approx(alpha + M / rate).epsilon(1e-9));
}

TEST_CASE("flows into one card share it: the penalty leaves each more than that") {
  for (const std::size_t k : {2, 3, 4}) {
    CHECK(in_penalty * static_cast<double>(k) < static_cast<double>(k));
    const std::vector<Flow> flows{{1, 0}, {2, 0}, {3, 0}, {4, 0}};
    for (const double end : ends({flows.begin(), flows.begin() + static_cast<std::ptrdiff_t>(k)}, M))
      CHECK(end == Approx(alpha + static_cast<double>(k) * M / rate).epsilon(1e-9));
  }
}

TEST_CASE("flows out of one card share it, too, unless a receiver is crowded") {
  for (const double end : ends({{0, 1}, {0, 2}, {0, 3}}, M)) CHECK(end == Approx(alpha + 3 * M / rate).epsilon(1e-9));
}

TEST_CASE("a sender of two flows, one into a card that receives three, is slowed on both") {
  const std::vector<double> times = ends({{0, 1}, {0, 2}, {3, 1}, {4, 1}}, M);
  // Sharing alone would give the flow to rank 2 all that the other leaves of the card: two thirds of it.
  CHECK(times[1] == Approx(alpha + 2 * out_penalty * crowded * M / rate).epsilon(1e-9));
  CHECK(times[0] == Approx(alpha + 3 * M / rate).epsilon(1e-9));
}

TEST_CASE("when all send to all, four and more slow each other by a quarter beyond sharing") {
  for (const int P : {2, 3, 4, 5}) {
    std::vector<Flow> flows;
    for (int from = 0; from < P; ++from)
      for (int to = 0; to < P; ++to)
        if (from != to) flows.emplace_back(from, to);
    const double penalty = P >= 4 ? (P - 1) * out_penalty * crowded : P - 1;
    for (const double end : ends(flows, M)) CHECK(end == Approx(alpha + penalty * M / rate).epsilon(1e-9));
  }
}

TEST_CASE("a flow that fails under infiniband no longer slows down the others of its card") {
  const double crash_s = alpha + M / rate;  // half of what two flows at once take
  const std::vector<double> times = ends({{0, 1}, {0, 4}}, M, {.crash_s = crash_s});
  CHECK(times[0] == Approx(crash_s + 0.5 * M / rate).epsilon(1e-9));
  CHECK(times[1] == 0.0);
}

// The weights of the slow flows, 1.4e-6, are below SimGrid's precision of 1e-5, and they are alone on all of their
// links once the fast ones have their shares. Both share the slow link nearly all the time.
TEST_CASE("under infiniband flows may be a million million times as fast as others") {
  constexpr double part = 1e-12;
  const double n = 8e3;
  const std::vector<double> times = ends({{0, 1}, {0, 2}, {0, 4}, {3, 4}, {3, 1}}, n, {.slow_link = part});
  for (const std::size_t fast : {0, 1}) CHECK(times[fast] == Approx(alpha + 3 * out_penalty * n / rate).epsilon(1e-9));
  CHECK(times[4] == Approx(alpha + 2 * in_penalty * n / rate).epsilon(1e-9));
  for (const std::size_t slow : {2, 3}) CHECK(times[slow] == Approx(alpha + 2 * n / (part * rate)).epsilon(1e-9));
  CHECK_THROWS_WITH(ends({{0, 1}}, n, {.slow_link = 1e-15}),
                    ContainsSubstring("network_model = \"infiniband\" weights flows by the latency and bandwidth"));
}

}  // namespace infiniband_test
