// Limits of links: cluster.efficiency, cluster.flow_limit, cluster.slow_links.
#include "base/errors.h"
#include "catch.h"
#include "cluster/transfers.h"

namespace limits_test {

using namespace simgrad;
using namespace simgrad::cluster;
using namespace simgrad::tests;

namespace {

constexpr double B = 1e9;
constexpr double L = 10e-6;
constexpr std::int64_t d = 1'000'000;
constexpr double M = 8e6;

Options star() {
  Options options;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = L};
  return options;
}

auto nine(double x) { return Approx(x).epsilon(1e-9); }

}  // namespace

TEST_CASE("an efficiency multiplies every link's bandwidth") {
  Options options = star();
  options.efficiency = 0.8;
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(L + M / (0.8 * B)));
  for (const double end : transfer_ends(options, 4, {{0, 3, d}, {1, 3, d}})) CHECK(end == nine(L + 2 * M / (0.8 * B)));
}

TEST_CASE("a flow gets at most the limit, and its share where that is less") {
  Options options = star();
  options.flow_limit_bytes_per_s = 0.4 * B;
  CHECK(transfer_ends(options, 4, {{0, 1, d}}).front() == nine(L + M / (0.4 * B)));
  for (const double end : transfer_ends(options, 4, {{0, 3, d}, {1, 3, d}})) CHECK(end == nine(L + M / (0.4 * B)));
  for (const double end : transfer_ends(options, 4, {{0, 3, d}, {1, 3, d}, {2, 3, d}}))
    CHECK(end == nine(L + 3 * M / B));
}

TEST_CASE("a slow link is slow both ways, and others are as they were") {
  Options options = star();
  options.efficiency = 0.5;
  SlowLink& slow = options.slow_links.emplace_back();
  slow.link = "nic-1";
  slow.factor = 0.1;
  const auto ends = transfer_ends(options, 4, {{0, 1, d}, {2, 3, d}});
  CHECK(ends[0] == nine(L + M / (0.05 * B)));
  CHECK(ends[1] == nine(L + M / (0.5 * B)));
  CHECK(transfer_ends(options, 4, {{1, 0, d}}).front() == nine(L + M / (0.05 * B)));
}

TEST_CASE("a slow link that does not exist is an error that suggests one") {
  Options options = star();
  options.slow_links.emplace_back().link = "nik-1_UP";
  CHECK_THROWS_WITH(transfer_ends(options, 4, {{0, 1, d}}),
                    ContainsSubstring("there is no link \"nik-1_UP\"") && ContainsSubstring("nic-1_UP"));
}

}  // namespace limits_test
