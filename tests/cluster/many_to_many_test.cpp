// Hosts that each send to several at a time: SimGrid 3.32 overlooks links unless it shares all of them, or is told.
// Where links are constant, the cluster has a network of its own.
#include <array>
#include <memory>
#include <numeric>
#include <random>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/inbox.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "record/record.h"
#include "share.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace many_to_many_test {

using namespace simgrad;
using cluster::Communicator;

namespace {

constexpr double alpha = 1e-4;
constexpr double B = 1e9;
constexpr int P = 80;  // the sparse way is taken beyond 64 hosts

/// Who shares the links: SimGrid, all of them at every change or those that it concerns; or the cluster itself.
enum class Network { all_links, changed_links, own };

/// With a crash that is announced and never happens, messages are SimGrid's.
cluster::Options options_of(Network network) {
  cluster::Options options;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = alpha};
  if (network != Network::own) options.failures.crashes.emplace_back();
  return options;
}

using Body = std::function<void(const Communicator&, values::Dispatcher&, double* times)>;

/// Runs the body on every rank, each with an inbox for all others. Returns the times that they note, `each` a rank.
std::vector<double> times_of(const cluster::Options& options, bool few_neighbours, std::size_t each, const Body& body) {
  return tests::numbers_of_child([&] {
    cluster::Cluster cluster(options, P, true, 1, few_neighbours);
    cluster::World world(cluster, "w", P, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<double> times(each * P);
    std::vector<int> all(P);
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    int left = P;
    for (int r = 0; r < P; ++r)
      world.ranks().start(r, [&, r] {
        const Communicator comm(world, members, r, 0);
        const cluster::Inbox inbox(comm, 0, P);
        body(comm, timing, &times[each * static_cast<std::size_t>(r)]);
        if (--left == 0)
          world.end();
        else
          cluster::pause(1e3);
      });
    cluster.run();
    return times;
  });
}

std::vector<double> times_of(Network network, std::size_t each, const Body& body) {
  return times_of(options_of(network), network == Network::changed_links, each, body);
}

/// Every rank sends three times to three others, all drawn; ranks often begin at one time.
void random_traffic(const Communicator& comm, values::Dispatcher& d, double* times, unsigned draw) {
  std::mt19937 random(1000 * draw + static_cast<unsigned>(comm.rank()));
  constexpr std::array sizes{10'000, 20'000, 35'000};
  for (int round = 0; round < 3; ++round) {
    cluster::pause(1e-4 * static_cast<double>(random() % 3));
    std::vector<cluster::Pending> sends;
    for (int k = 0; k < 3; ++k) {
      // Within ten ranks, so that several send to one; a rank may draw a target twice.
      const int target = comm.rank() / 10 * 10 + static_cast<int>(random() % 10);
      if (target != comm.rank()) sends.push_back(comm.start_send(target, d.zeros(sizes[random() % sizes.size()])));
    }
    cluster::wait_for_sends(sends);
    times[round] = comm.now();
  }
}

}  // namespace

TEST_CASE("cards that receive from several hosts with several targets each carry no more than their bandwidth") {
  constexpr std::int64_t n = 1'000'000;
  // Three ranks send to two others each. Card 3 receives three messages, and is what its senders wait for.
  constexpr std::array<std::array<int, 3>, 3> senders{{{0, 2, 3}, {1, 4, 3}, {5, 4, 3}}};
  const auto body = [&](const Communicator& comm, values::Dispatcher& d, double* times) {
    for (const auto& [from, one, other] : senders) {
      if (comm.rank() != from) continue;
      cluster::Pending first = comm.start_send(one, d.zeros(n));
      cluster::Pending second = comm.start_send(other, d.zeros(n));
      first.wait();
      times[0] = comm.now();
      second.wait();
      times[1] = comm.now();
    }
  };
  constexpr double M = 8.0 * n / B;
  for (const Network network : {Network::all_links, Network::changed_links, Network::own}) {
    const auto times = times_of(network, 2, body);
    CHECK(times[0] == Approx(alpha + 1.5 * M).epsilon(1e-9));  // 0 to 2 takes what 0 to 3 leaves: 2/3 of the card
    CHECK(times[2] == Approx(alpha + 2.0 * M).epsilon(1e-9));  // 1 to 4 and 5 to 4 share card 4
    CHECK(times[10] == Approx(alpha + 2.0 * M).epsilon(1e-9));
    for (const std::size_t to_3 : {1, 3, 11}) CHECK(times[to_3] == Approx(alpha + 3.0 * M).epsilon(1e-9));
  }
}

TEST_CASE("random traffic takes the same time on all networks") {
  tests::Share share;
  for (unsigned draw = 0; draw < 12; ++draw) {
    if (!share.next()) continue;
    const auto body = [draw](const Communicator& comm, values::Dispatcher& d, double* times) {
      random_traffic(comm, d, times, draw);
    };
    const auto all = times_of(Network::all_links, 3, body);
    for (const Network network : {Network::changed_links, Network::own}) {
      const auto same = times_of(network, 3, body);
      REQUIRE(same.size() == all.size());
      for (std::size_t k = 0; k < all.size(); ++k) REQUIRE(same[k] == Approx(all[k]).epsilon(1e-9));
    }
  }
}

TEST_CASE("random traffic takes the same time on either network where routes differ, and with a limit of flows") {
  for (const std::string topology : {"ring", "dragonfly", "star"}) {
    const auto body = [](const Communicator& comm, values::Dispatcher& d, double* times) {
      random_traffic(comm, d, times, 7);
    };
    const auto times = [&](Network network) {
      cluster::Options options = options_of(network);
      options.topology.choose(topology);
      if (topology == "star") options.flow_limit_bytes_per_s = 0.4 * B;
      return times_of(options, false, 3, body);
    };
    const auto simgrids = times(Network::all_links), own = times(Network::own);
    REQUIRE(own.size() == simgrids.size());
    // Where latencies differ, SimGrid is given each flow's weight 2e-12 s after its latency.
    for (std::size_t k = 0; k < own.size(); ++k) REQUIRE(own[k] == Approx(simgrids[k]).epsilon(1e-7));
  }
}

TEST_CASE("messages between ranks of one host take no time on a network of the cluster's own") {
  const auto out = tests::numbers_of_child([] {
    cluster::Cluster cluster(options_of(Network::own), 1, true);
    cluster::World world(cluster, "w", 2, 0, {0, 0});
    values::Dispatcher timing({.numbers = false, .label = {}});
    const auto members = std::make_shared<const std::vector<int>>(std::vector{0, 1});
    double received_s = -1.0;
    world.ranks().start(0, [&] {
      cluster::pause(1.0);
      Communicator(world, members, 0, 0).send(1, timing.zeros(1000));
    });
    world.ranks().start(1, [&] {
      const Communicator comm(world, members, 1, 0);
      comm.receive(0);
      received_s = comm.now();
      world.end();
    });
    cluster.run();
    record::Record record;
    world.fill(record);
    return std::vector{received_s, static_cast<double>(record.bytes)};
  });
  CHECK(out == std::vector{1.0, 0.0});
}

TEST_CASE("a rank that nobody sends to is a deadlock, with its name, on a network of the cluster's own") {
  const auto error = tests::text_of_child([] {
    cluster::Cluster cluster(options_of(Network::own), 2, true);
    cluster::World world(cluster, "w", 2, 0);
    const auto members = std::make_shared<const std::vector<int>>(std::vector{0, 1});
    world.ranks().start(1, [&] { Communicator(world, members, 1, 0).receive(0); });
    try {
      cluster.run();
    } catch (const std::exception& failure) {
      return std::string(failure.what());
    }
    return std::string();
  });
  CHECK(error == "deadlock at 0 s of simulated time: rank 1 (step -1) waits to receive from rank 0");
}

}  // namespace many_to_many_test
