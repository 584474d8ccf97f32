// TCP's slow start under `ethernet`, in closed form for messages that are alone on their way.
//
// RFC 5681 and RFC 6928: a connection sends w = 10 packets of 1460 bytes, and a round trip later twice as many, until a
// window is as long as bandwidth x round trip. m bytes then take alpha + n R + (m - w (2^n - 1)) / B.

#include "cluster/fabric/slow_start.h"

#include <algorithm>
#include <memory>

#include "catch.h"
#include "cluster/fabric/routes.h"
#include "cluster/topologies/two_tier.h"
#include "cluster/topologies/wan.h"
#include "cluster/transfers.h"

namespace slow_start_test {

using namespace simgrad;
using namespace simgrad::cluster;
using namespace simgrad::tests;

namespace {

constexpr double L = 1e-3, R = 2 * L;
constexpr double B = 1.25e9 * 1448.0 / 1538.0;  // 10 Gb/s of standard frames; B R = 2.35 MB
constexpr double w = 14'600.0;

auto nine(double x) { return Approx(x).epsilon(1e-9); }

Options ethernet(double latency_s = L) {
  Options options;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = 1.25e9, .latency_s = latency_s};
  options.network_model = NetworkModel::ethernet;
  options.window_bytes = 1e9;
  return options;
}

double alone_s(const Options& options, std::int64_t bytes) {
  return transfer_ends(options, 4, {{0, 1, bytes / 8}}).front();
}

/// The times of messages of 100 kB from host 0 to host 1, each so long after the one before.
std::vector<double> one_by_one(const Options& options, const std::vector<double>& pauses_s) {
  return numbers_of_child([&] {
    Cluster cluster(options, 2);
    World world(cluster, "transfers", 2, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    const auto members = std::make_shared<const std::vector<int>>(std::vector{0, 1});
    std::vector<double> seconds;
    world.ranks().start(0, [&] {
      for (const double pause_s : pauses_s) {
        simgrid::s4u::this_actor::sleep_for(pause_s);
        const double start_s = world.now();
        Communicator(world, members, 0, 0).send(1, timing.zeros(12'500));
        seconds.push_back(world.now() - start_s);
      }
    });
    world.ranks().start(1, [&] {
      for (std::size_t i = 0; i < pauses_s.size(); ++i) Communicator(world, members, 1, 0).receive(0);
    });
    cluster.run();
    return seconds;
  });
}

constexpr double m = 100'000.0;
constexpr double cold = L + 2 * R + (m - 3 * w) / B;  // the windows are w, 2 w, and the rest
constexpr double warm = L + m / B;

}  // namespace

TEST_CASE("100 kB on a new connection with a link of 1 ms take three windows, two round trips more than one") {
  CHECK(alone_s(ethernet(), 100'000) == nine(cold));
  CHECK(alone_s(ethernet(), 102'200) == nine(L + 2 * R + 4 * w / B));              // the three windows to the last byte
  CHECK(alone_s(ethernet(), 102'208) == nine(L + 3 * R + (102'208 - 7 * w) / B));  // and a fourth one
}

TEST_CASE("a message within the initial window takes no longer by slow start") {
  for (const std::int64_t bytes : {0, 8, 1'000, 14'600})
    CHECK(alone_s(ethernet(), bytes) == nine(L + static_cast<double>(bytes) / B));
  CHECK(alone_s(ethernet(), 14'608) == nine(L + R + 8 / B));
}

TEST_CASE("a window as long as bandwidth x round trip ends slow start, and the rest of a message streams") {
  // 2^7 w is less than B R = 2.35 MB, and 2^8 w is more.
  CHECK(alone_s(ethernet(), 8'000'000) == nine(L + 8 * R + (8e6 - 255 * w) / B));
  // A flow that has W bytes a round trip: 2^2 w < 65,536 < 2^3 w.
  Options options = ethernet();
  options.window_bytes = 65'536;
  CHECK(alone_s(options, 8'000'000) == nine(L + 3 * R + (8e6 - 7 * w) / (65'536 / R)));
}

TEST_CASE("slow start is for routes whose round trip takes a millisecond, and messages in data centres have none") {
  CHECK(alone_s(ethernet(10e-6), 8'000'000) == nine(10e-6 + 8e6 / B));
  CHECK(alone_s(ethernet(0.499e-3), 100'000) == nine(0.499e-3 + m / B));
  CHECK(alone_s(ethernet(0.5e-3), 100'000) == nine(0.5e-3 + 2e-3 + (m - 3 * w) / B));
}

TEST_CASE("initial_window is a number of packets, and 0 is no slow start") {
  Options options = ethernet();
  options.initial_window = 0;
  CHECK(alone_s(options, 100'000) == nine(warm));
  options.initial_window = 1;  // 1460 (2^6 - 1) = 91,980 bytes before the rest
  CHECK(alone_s(options, 100'000) == nine(L + 6 * R + (m - 91'980) / B));
  options.initial_window = 69;  // 100,740 bytes
  CHECK(alone_s(options, 100'000) == nine(warm));
}

TEST_CASE("a connection keeps the window that it has opened until it has been idle for its timeout") {
  // The timeout is the round trip and 200 ms. A window grows by the bytes that are acknowledged: to w + m, then w + 2
  // m.
  const std::vector<double> seconds = one_by_one(ethernet(), {0, 0, 0.19, 0.21, 0.0});
  CHECK(seconds[0] == nine(cold));
  CHECK(seconds[1] == nine(warm));
  CHECK(seconds[2] == nine(warm));
  CHECK(seconds[3] == nine(cold));
  CHECK(seconds[4] == nine(warm));
  Options options = ethernet();
  options.idle_time_s = 0.1;
  CHECK(one_by_one(options, {0, 0.09, 0.11})[1] == nine(warm));
  CHECK(one_by_one(options, {0, 0.09, 0.11})[2] == nine(cold));
  // With a round trip of 300 ms it is 500 ms.
  CHECK(one_by_one(ethernet(0.15), {0, 0.45, 0.55})[1] == nine(0.15 + m / B));
  CHECK(one_by_one(ethernet(0.15), {0, 0.45, 0.55})[2] == nine(0.15 + 0.6 + (m - 3 * w) / B));
}

TEST_CASE("each host has a connection to each other one, and another one back") {
  Options options = ethernet();
  const std::vector<double> ends = transfer_ends(options, 4, {{0, 1, 12'500}, {1, 0, 12'500}, {2, 3, 12'500}});
  for (const double end : ends) CHECK(end == nine(cold));
}

TEST_CASE("after slow start flows share a link fairly, and two messages of one connection begin with one window") {
  const double slow = cold - warm;
  for (const double end : transfer_ends(ethernet(), 4, {{0, 3, 12'500}, {1, 3, 12'500}}))
    CHECK(end == nine(L + slow + 2 * m / B));
  TwoTier racks;
  racks.hosts_per_rack = 2;
  racks.oversubscription = 1;
  Options options = ethernet();
  options.workers = 4;
  options.topology = base::Slot<Topology>(topologies(), std::make_unique<TwoTier>(std::move(racks)));
  // Between racks the latency is 2 L, and the round trip 2 R.
  CHECK(transfer_ends(options, 4, {{0, 2, 12'500}}).front() == nine(2 * L + 4 * R + (m - 3 * w) / B));
  CHECK(transfer_ends(options, 4, {{0, 1, 12'500}}).front() == nine(cold));
}

TEST_CASE("slow start comes on top of the latency and the bandwidth of a protocol") {
  for (const char* const kind : {"nccl", "smpi"}) {
    Options options = ethernet();
    REQUIRE(options.protocol.choose(kind));
    const ProtocolRow row = options.protocol->at(m);
    CHECK(alone_s(options, 100'000) == nine(row.latency * L + 2 * R + (m - 3 * w) / (row.bandwidth * B)));
  }
}

// Whether collectives may be computed is asked before there are routes.
TEST_CASE("no route of a topology is longer than the bound by which slow start is foreseen") {
  for (const char* const kind :
       {"star", "two_tier", "fat_tree", "torus", "ring", "dragonfly", "gpu_hosts", "pod", "wan"}) {
    CAPTURE(kind);
    Options options = ethernet();
    options.workers = 12;
    REQUIRE(options.topology.choose(kind));
    if (auto* const sites = dynamic_cast<Wan*>(options.topology.object())) {
      for (const char* const name : {"a", "b", "c"}) sites->sites.emplace_back().name = name;
      for (Site& site : sites->sites) site.hosts = 4;
      sites->sites[1].latency_s = 3e-3;
      sites->pairs.emplace_back().from = "a";
      sites->pairs.back().to = "c";
      sites->pairs.back().latency_s = 0.2;
    }
    const double longest_s = numbers_of_child([&] {
                               const Cluster cluster(options, 12);
                               double longest = 0.0;
                               for (int from = 0; from < 12; ++from)
                                 for (int to = 0; to < 12; ++to) {
                                   double latency_s = 0.0;
                                   if (from != to) route_between(cluster.host(from), cluster.host(to), &latency_s);
                                   longest = std::max(longest, latency_s);
                                 }
                               return std::vector<double>{longest};
                             }).front();
    CHECK(options.topology->longest_latency_s(options.host_spec, 12) >= longest_s * (1.0 - 1e-12));
    CHECK(options.topology->longest_latency_s(options.host_spec, 12) <= 2.5 * longest_s);
  }
}

}  // namespace slow_start_test
