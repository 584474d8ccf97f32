// Servers of shards, on hosts of their own and on the workers': the times of the closed forms, and the bytes.
#include <algorithm>

#include "strategies/programs.h"

namespace shards_cost_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Placement;

namespace {

/// Communication only: no flops anywhere.
Trial silent(training::Program program, int n, std::int64_t d, std::int64_t steps) {
  Trial trial{.program = std::move(program), .workers = n, .rows = 16 * 15 * 14 * 13 * 11, .features = d};
  trial.batch = n;
  trial.training.numbers = false;
  trial.cluster.charge_reductions = false;
  trial.flops_a_row = 0.0;
  trial.stop.steps = steps;
  return trial;
}

double seconds(const Trial& trial) {
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  return record.simulated_s;
}

/// A pull or a push: n workers and s servers, all of whose links carry at most B. Shards of l numbers, b of them of one
/// more. With as many workers as servers the servers' links are full: the longest shard's n times. With fewer, the
/// workers' are: s times l at B / s each; then one number more from b servers, each at B / max(b, n).
double transfer_s(int n, std::int64_t s, std::int64_t d) {
  const std::int64_t l = d / s;
  const std::int64_t b = d % s;
  if (n >= s) return alpha + 8.0 * static_cast<double>(n * (l + (b > 0 ? 1 : 0))) / B;
  return alpha + 8.0 * static_cast<double>(l * s + (b > 0 ? std::max<std::int64_t>(b, n) : 0)) / B;
}

}  // namespace

TEST_CASE("s dedicated shards: pull and push each take alpha + max(M, n M / s) beta, uneven shards included") {
  for (int n = 1; n <= 16; ++n)
    for (const std::int64_t s : {1, 2, 3, 4, 7, 16})
      for (const std::int64_t d : {16, 17, 1000, 100'003}) {
        CAPTURE(n, s, d);
        CHECK(seconds(silent(servers({.shards = s}), n, d, 1)) == Approx(2 * transfer_s(n, s, d)).epsilon(1e-9));
        if (d % s == 0) {
          const double M = 8.0 * static_cast<double>(d);
          const double closed = alpha + std::max(M, n * M / static_cast<double>(s)) / B;
          CHECK(transfer_s(n, s, d) == Approx(closed).epsilon(1e-12));
          CHECK(seconds(silent(servers({.shards = s}), n, d, 4)) == Approx(8 * closed).epsilon(1e-9));
        }
      }
}

TEST_CASE(
    "n colocated shards: pull and push each take alpha + (n-1) M beta / n, and what stays on a host takes nothing") {
  for (int n = 1; n <= 16; ++n) {
    const std::int64_t d = 840 * n;
    const double M = 8.0 * static_cast<double>(d);
    const double transfer = n == 1 ? 0.0 : alpha + (n - 1) * M / (n * B);
    const Trial trial = silent(servers({.shards = n, .placement = Placement::colocated}), n, d, 3);
    const record::Record record = trial.run().record;
    CAPTURE(n);
    CHECK(record.simulated_s == Approx(6 * transfer).epsilon(1e-9).margin(1e-15));
    CHECK(record.bytes == 3 * 2 * (n - 1) * 8 * d);
    CHECK(record.messages == 3 * 2 * n * (n - 1));
    CHECK(record.links.size() == (n == 1 ? 0U : 2U * static_cast<unsigned>(n)));
  }
}

TEST_CASE("fewer colocated servers than workers carry n - 1 workers' shards each") {
  for (int n = 2; n <= 16; ++n)
    for (std::int64_t s = 1; s < n; s += 2) {
      const std::int64_t d = 15015 * 8;  // 1, 3, 5, 7, 11, 13, 15 divide it
      if (d % s != 0) continue;
      const double M = 8.0 * static_cast<double>(d);
      // A host without a server sends M, a server's host takes n - 1 shards.
      const double transfer = alpha + std::max(M, (n - 1) * M / static_cast<double>(s)) / B;
      CAPTURE(n, s);
      CHECK(seconds(silent(servers({.shards = s, .placement = Placement::colocated}), n, d, 1)) ==
            Approx(2 * transfer).epsilon(1e-9));
    }
}

TEST_CASE("the golden values of 100 MB at 10 Gb/s and 50 us, four dedicated servers and a server a worker") {
  struct Golden {
    int n;
    double four_s;
    double colocated_s;
  };
  for (const Golden& golden :
       {Golden{4, 0.16010, 0.12010}, Golden{8, 0.32010, 0.14010}, Golden{16, 0.64010, 0.15010}}) {
    const std::int64_t d = 12'500'000;
    CAPTURE(golden.n);
    CHECK(seconds(silent(servers({.shards = 4}), golden.n, d, 1)) == Approx(golden.four_s).epsilon(1e-9));
    CHECK(seconds(silent(servers({.shards = golden.n, .placement = Placement::colocated}), golden.n, d, 1)) ==
          Approx(golden.colocated_s).epsilon(1e-9));
  }
}

TEST_CASE("a step of s servers: t_c + two transfers + n M/s gamma + update/s") {
  for (const int n : {1, 4, 9, 16})
    for (const std::int64_t s : {1, 2, 5}) {
      Trial trial = silent(servers({.shards = s}), n, 10'000, 3);
      trial.cluster.charge_reductions = true;
      trial.flops_a_row = {};
      const double shard = 10'000.0 / static_cast<double>(s);
      const double step = trial.gradient_s() + 2 * transfer_s(n, s, 10'000) + n * shard / speed + 2 * shard / speed;
      CAPTURE(n, s);
      CHECK(seconds(trial) == Approx(3 * step).epsilon(1e-9));
    }
}

TEST_CASE("a server shares the cores of its worker's host: two computations at a time take twice as long") {
  // Worker 0's gradient of 10 ms is under way when worker 1, which is faster, pushes at 1 ms: the update of 2 d = 4e6
  // flops, 4 ms alone, takes 8 ms, and the gradient 14 ms.
  Trial trial = silent(servers({.consistency = Consistency::asp, .placement = Placement::colocated}), 2, 2'000'000, 0);
  trial.flops_a_row = 1e7;
  trial.cluster.charge_reductions = true;
  trial.cluster.host_spec.latency_s = 0.0;
  trial.cluster.host_spec.bandwidth_bytes_per_s = 1e18;
  trial.cluster.relative_speeds = {1.0, 10.0};
  trial.stop = {};
  trial.stop.time_s = 0.02;
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  REQUIRE(record.curve.size() > 1);
  CHECK(record.curve[1].simulated_s == Approx(0.001 + 0.008).epsilon(1e-8));
}

}  // namespace shards_cost_test
