// The network model `ethernet`: the goodput of TCP in frames of Ethernet, and the window of a flow.

#include <algorithm>
#include <memory>

#include "catch.h"
#include "cluster/computed/idle_costs.h"
#include "cluster/topologies/two_tier.h"
#include "cluster/transfers.h"

namespace ethernet_test {

using namespace simgrad;
using namespace simgrad::cluster;
using namespace simgrad::tests;

namespace {

constexpr double B = 1.25e9;  // 10 Gb/s
constexpr double L = 50e-6;
constexpr std::int64_t d = 1'000'000;
constexpr double M = 8e6;
constexpr double g = 1448.0 / 1538.0;
constexpr double G = 8948.0 / 9038.0;

auto nine(double x) { return Approx(x).epsilon(1e-9); }

Options ethernet() {
  Options options;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = L};
  options.network_model = NetworkModel::ethernet;
  options.window_bytes = 1e9;
  return options;
}

}  // namespace

TEST_CASE("a message under ethernet takes latency + bytes / goodput, in standard and jumbo frames") {
  CHECK(goodput(Frame::standard) == nine(g));
  CHECK(goodput(Frame::jumbo) == nine(G));
  Options options = ethernet();
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(L + M / (B * g)));
  CHECK(transfer_ends(options, 4, {{0, 1, 1}}).front() == nine(L + 8 / (B * g)));
  CHECK(transfer_ends(options, 4, {{0, 1, 0}}).front() == nine(L));
  options.frame = Frame::jumbo;
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(L + M / (B * G)));
  options.efficiency = 0.5;
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(L + M / (0.5 * B * G)));
}

TEST_CASE("a flow under ethernet gets at most its window a round trip, whatever the frames") {
  Options options = ethernet();
  options.window_bytes = 65'536;
  const double W = 65'536 / (2 * L);  // 655 MB/s, less than the goodput
  for (const Frame frame : {Frame::standard, Frame::jumbo}) {
    options.frame = frame;
    CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(L + M / W));
  }
  options.flow_limit_bytes_per_s = W / 2;
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(L + M / (W / 2)));
  options.flow_limit_bytes_per_s = 2 * W;
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(L + M / W));
}

TEST_CASE("a flow under ethernet goes no faster than a core at its ends deals with its bytes") {
  Options options = ethernet();
  options.processor_s_a_byte = 2e-9;  // 500 MB/s, less than the goodput and the window
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(L + M / 5e8));
  options.processor_s_a_byte = 1e-12;
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(L + M / (B * g)));
}

TEST_CASE("the window of 4 MiB is less than 10 Gbit/s once the round trip is longer than 3.6 ms") {
  Options options = ethernet();
  options.window_bytes = Options().window_bytes;
  options.initial_window = 0;
  options.host_spec.latency_s = 1e-3;
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(1e-3 + M / (B * g)));
  options.host_spec.latency_s = 10e-3;
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(10e-3 + M / (4'194'304 / 20e-3)));
}

TEST_CASE("flows on one link share its goodput under ethernet, each within its window") {
  Options options = ethernet();
  for (const double end : transfer_ends(options, 4, {{0, 3, d}, {1, 3, d}})) CHECK(end == nine(L + 2 * M / (B * g)));
  // Both directions are used at once.
  for (const double end : transfer_ends(options, 4, {{0, 1, d}, {1, 0, d}})) CHECK(end == nine(L + M / (B * g)));
  options.window_bytes = 0.4 * B * g * 2 * L;
  for (const double end : transfer_ends(options, 4, {{0, 3, d}, {1, 3, d}})) CHECK(end == nine(L + M / (0.4 * B * g)));
  for (const double end : transfer_ends(options, 4, {{0, 3, d}, {1, 3, d}, {2, 3, d}}))
    CHECK(end == nine(L + 3 * M / (B * g)));
}

TEST_CASE("flows of different latencies share a link fairly under ethernet") {
  TwoTier racks;
  racks.hosts_per_rack = 2;
  racks.oversubscription = 1;
  Options options = ethernet();
  options.workers = 4;
  options.topology = base::Slot<Topology>(topologies(), std::make_unique<TwoTier>(std::move(racks)));
  // From the same rack after L, from the other one after 2 L; until then the first flow is alone.
  const std::vector<double> ends = transfer_ends(options, 4, {{1, 0, d}, {2, 0, d}});
  const double left = M - L * B * g;
  CHECK(ends[0] == nine(2 * L + 2 * left / (B * g)));
  CHECK(ends[1] == nine(L + 2 * M / (B * g)));
}

TEST_CASE("the alpha-beta model knows the goodput and the window of ethernet") {
  for (const double window : {1e9, 65'536.0}) {
    Options options = ethernet();
    options.window_bytes = window;
    const auto costs = numbers_of_child([&] {
      Cluster cluster(options, 3);
      const World world(cluster, "idle", 3, 0);
      const AlphaBetaGamma idle = idle_costs(world, {0, 1, 2});
      return std::vector<double>{idle.transfer_s(8 * d), idle.flow_s(M, 2.0)};
    });
    const double W = window / (2 * L);
    CHECK(costs[0] == nine(L + M / std::min(B * g, W)));
    CHECK(costs[1] == nine(std::max(2 * M / (B * g), M / W)));
  }
}

TEST_CASE("ethernet on a network without latency has no window") {
  Options options = ethernet();
  options.host_spec.latency_s = 0.0;
  options.window_bytes = 1.0;
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(M / (B * g)));
}

}  // namespace ethernet_test
