// One message on a cluster's links, by each network model.
#include "cluster/fabric/message_times.h"

#include "base/errors.h"
#include "catch.h"

namespace message_times_test {

using namespace simgrad;
using namespace simgrad::cluster;

namespace {

const std::vector<std::int64_t> sizes{1'000, 1'000'000, 1'000'000'000};

auto nine(double x) { return Approx(x).epsilon(1e-9); }

}  // namespace

TEST_CASE(
    "a message takes alpha + n/B under ideal, 13.01 alpha + n/(0.97 B) under tcp, alpha + n/(0.96 B) on InfiniBand") {
  const double alpha = 50e-6;
  const double B = 125e6;
  const MessageTimes times = message_times({}, sizes);
  CHECK(times.route == "host 0 to host 3 over nic-0_UP, nic-3_DOWN");
  CHECK(times.latency_s == nine(alpha));
  CHECK(times.bandwidth_bytes_per_s == nine(B));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto n = static_cast<double>(sizes[i]);
    CHECK(times.seconds[0][i] == nine(alpha + n / B));
    CHECK(times.seconds[1][i] == nine(13.01 * alpha + n / (0.97 * B)));
    CHECK(times.seconds[2][i] == nine(alpha + n / (0.96 * B)));
    CHECK(times.seconds[3][i] == nine(alpha + n / (1448.0 / 1538.0 * B)));
  }
}

TEST_CASE("the links' efficiency, limit and shape are a message's, and nothing else disturbs it") {
  Options options;
  options.workers = 1;
  options.relative_speeds = {0.1};
  options.efficiency = 0.5;
  options.topology = base::Slot<Topology>(topologies(), "ring");
  MessageTimes times = message_times(options, sizes);
  CHECK(times.route == "host 0 to host 1 over ring-0_UP");
  CHECK(times.bandwidth_bytes_per_s == nine(62.5e6));
  CHECK(times.seconds[0][2] == nine(50e-6 + 1e9 / 62.5e6));
  options.flow_limit_bytes_per_s = 10e6;
  times = message_times(options, sizes);
  CHECK(times.bandwidth_bytes_per_s == nine(10e6));
  CHECK(times.seconds[0][2] == nine(50e-6 + 1e9 / 10e6));
}

TEST_CASE("a cluster that cannot be built is the scenario's fault") {
  Options options;
  options.slow_links.emplace_back().link = "nothing";
  CHECK_THROWS_AS(message_times(options, sizes), base::ScenarioError);
}

}  // namespace message_times_test
