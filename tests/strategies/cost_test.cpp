// Every strategy takes the time of its cost line on the ideal star, sends its bytes, and accounts for all of it.
#include <algorithm>
#include <cmath>

#include "strategies/programs.h"

namespace cost_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t steps = 3;
constexpr double gamma_s = 1.0 / (8.0 * speed);  // s/byte: one addition a double

/// So many steps of timing only, n workers with equal shares.
Trial timed(training::Program program, int n, std::int64_t d) {
  Trial trial{.program = std::move(program), .workers = n, .rows = 16 * 15 * 14 * 13 * 11 * 9, .features = d};
  trial.batch = 2 * n;
  trial.training.numbers = false;
  trial.stop.steps = steps;
  return trial;
}

void check_step(const Trial& trial, double step_s, std::int64_t messages_a_step) {
  const record::Record record = trial.run().record;
  CAPTURE(trial.workers, trial.features);
  REQUIRE(record.error.empty());
  CHECK(record.simulated_s == Approx(steps * step_s).epsilon(1e-9));
  REQUIRE(record.curve.size() == steps + 1);
  for (const auto& row : record.curve) {
    CHECK(row.simulated_s == Approx(static_cast<double>(row.step) * step_s).epsilon(1e-9).margin(1e-15));
    CHECK(row.samples == row.step * 2 * trial.workers);
    CHECK(!row.loss);
  }
  CHECK(record.samples == steps * 2 * trial.workers);
  CHECK(record.status == record::Status::stopped);
  CHECK(record.messages == steps * messages_a_step);
  for (int r = 0; r < trial.workers; ++r)
    CHECK(record.ranks[static_cast<std::size_t>(r)].compute_s >= Approx(steps * trial.gradient_s()).epsilon(1e-9));
}

/// M gamma: d additions.
double additions_s(const Trial& trial) { return trial.message_bytes() * gamma_s; }
double sgd_s(const Trial& trial) { return 2.0 * static_cast<double>(trial.features) / speed; }

}  // namespace

TEST_CASE("a sequential step takes t_c + update") {
  Trial trial = timed(single(), 1, 1000);
  check_step(trial, trial.gradient_s() + sgd_s(trial), 0);
}

TEST_CASE("a mapreduce step takes t_c + 2 alpha + 2 n M beta + n M gamma + update") {
  for (int n = 1; n <= 16; ++n)
    for (const std::int64_t d : {1, 1000, 1'000'000}) {
      const Trial trial = timed(mapreduce(), n, d);
      const double transfer = alpha + n * trial.message_bytes() / B;
      check_step(trial, trial.gradient_s() + 2 * transfer + n * additions_s(trial) + sgd_s(trial), 2 * n);
    }
}

TEST_CASE("a step of a bsp parameter server takes as long as mapreduce's, its first pull included") {
  for (int n = 1; n <= 16; ++n)
    for (const std::int64_t d : {1, 1000, 1'000'000}) {
      const Trial trial = timed(parameter_server(Consistency::bsp), n, d);
      const double transfer = alpha + n * trial.message_bytes() / B;
      check_step(trial, trial.gradient_s() + 2 * transfer + n * additions_s(trial) + sgd_s(trial), 2 * n);
    }
}

TEST_CASE("a ring allreduce step takes t_c + 2(n-1) alpha + 2(n-1)/n M beta + (n-1)/n M gamma + update") {
  for (int n = 1; n <= 16; ++n) {
    const Trial trial = timed(ring_allreduce(), n, 5040 * 11 * 13);  // every n up to 16 but 16 divides it
    const std::int64_t longest = (trial.features + n - 1) / n;
    const double chunk = 8.0 * static_cast<double>(longest);
    const double allreduce = (n - 1) * (2 * alpha + 2 * chunk / B + chunk * gamma_s);
    check_step(trial, trial.gradient_s() + allreduce + sgd_s(trial), 2 * n * (n - 1));
  }
}

TEST_CASE(
    "a gossip step takes t_c + alpha + degree M beta + (2 degree + 1) d / speed + update, whatever the update rule") {
  for (const auto update :
       {GossipUpdate::combine_then_adapt, GossipUpdate::adapt_then_combine, GossipUpdate::gradient_exchange})
    for (int n = 2; n <= 16; ++n)
      for (const std::string graph : {"ring", "complete", "star"}) {
        const Trial trial = timed(gossip(graph, update), n, 10'000);
        // degree of the rank with most neighbours: the star's others wait for it
        const int degree = graph == "ring" ? std::min(2, n - 1) : n - 1;
        const int edges = graph == "star" ? n - 1 : n * degree / 2;
        const double mixing = (2.0 * degree + 1.0) * static_cast<double>(trial.features) / speed;
        const double step = trial.gradient_s() + alpha + degree * trial.message_bytes() / B + mixing + sgd_s(trial);
        CAPTURE(graph, static_cast<int>(update));
        check_step(trial, step, 2 * edges);
      }
}

TEST_CASE("free reductions leave transfers and gradients only") {
  for (const int n : {2, 5, 16}) {
    Trial star = timed(mapreduce(), n, 1000);
    star.cluster.charge_reductions = false;
    check_step(star, star.gradient_s() + 2 * (alpha + n * star.message_bytes() / B), 2 * n);
    Trial graph = timed(gossip("complete", GossipUpdate::combine_then_adapt), n, 1000);
    graph.cluster.charge_reductions = false;
    check_step(graph, graph.gradient_s() + alpha + (n - 1) * graph.message_bytes() / B, n * (n - 1));
  }
}

TEST_CASE("an asynchronous worker alone takes t_c + 2 alpha + 2 M beta + update an update") {
  Trial trial = timed(parameter_server(Consistency::asp), 1, 1000);
  trial.stop = {};
  trial.stop.samples = steps * 2;
  const record::Record record = trial.run().record;
  const double transfer = alpha + trial.message_bytes() / B;
  CHECK(record.simulated_s == Approx(steps * (trial.gradient_s() + 2 * transfer + sgd_s(trial))).epsilon(1e-9));
  CHECK(record.steps == steps);
  CHECK(record.samples == 2 * steps);
}

TEST_CASE("momentum updates cost 4 d flops") {
  Trial trial = timed(ring_allreduce(), 4, 1000);
  trial.training.optimizer.choose("momentum");
  const double chunk = trial.message_bytes() / 4;
  const double allreduce = 3 * (2 * alpha + 2 * chunk / B + chunk * gamma_s);
  check_step(trial, trial.gradient_s() + allreduce + 4.0 * static_cast<double>(trial.features) / speed, 24);
}

TEST_CASE("the golden values of 100 MB at 10 Gb/s and 50 us") {
  struct Golden {
    int n;
    double star_s;
    double ring_s;
  };
  for (const Golden& golden :
       {Golden{4, 0.64010, 0.12030}, Golden{8, 1.28010, 0.14070}, Golden{16, 2.56010, 0.15150}}) {
    const auto step_s = [&](training::Program program) {
      Trial trial = timed(std::move(program), golden.n, 12'500'000);
      trial.cluster.charge_reductions = false;  // gamma = 0
      trial.flops_a_row = 0.0;                  // t_c = 0
      trial.stop.steps = 1;
      return trial.run().record.simulated_s;
    };
    CAPTURE(golden.n);
    CHECK(step_s(mapreduce()) == Approx(golden.star_s).epsilon(1e-9));
    CHECK(step_s(parameter_server(Consistency::bsp)) == Approx(golden.star_s).epsilon(1e-9));
    CHECK(step_s(ring_allreduce()) == Approx(golden.ring_s).epsilon(1e-9));
  }
}

TEST_CASE("a link's bytes and utilisation are those of the messages that crossed it") {
  const Trial trial = timed(mapreduce(), 4, 1000);
  const record::Record record = trial.run().record;
  // The server's NIC carries everything, 4 M a step each way; a worker's carries M.
  REQUIRE(record.links.size() == 10);
  for (const record::LinkUse& link : record.links) {
    const std::int64_t bytes = steps * 8000 * (link.link.find("nic-4") != std::string::npos ? 4 : 1);
    CHECK(link.bytes == bytes);
    CHECK(link.utilisation == Approx(static_cast<double>(bytes) / (B * record.simulated_s)).epsilon(1e-12));
  }
}

TEST_CASE("each evaluation has the bytes, the flops and the busy seconds until then, computed or message by message") {
  for (const auto by : {cluster::Collectives::automatic, cluster::Collectives::messages}) {
    Trial trial{.program = ring_allreduce(), .workers = 4, .rows = 48, .features = 8};
    trial.flops_a_row = 1e4;
    trial.cluster.collectives = by;
    trial.stop.steps = 5;
    const record::Record record = trial.run().record;
    REQUIRE(record.curve.size() == 6);
    for (std::size_t k = 0; k <= 5; ++k) {
      const auto steps = static_cast<double>(k);
      // 2 (P - 1) parts of M / P a rank; all rows' gradients, P - 1 additions of d numbers, P updates of 2 d flops.
      CHECK(record.curve[k].bytes == static_cast<std::int64_t>(k) * 4 * 6 * 2 * 8);
      CHECK(record.curve[k].flops.value() == steps * (48 * 1e4 + 3 * 8 + 4 * 2 * 8));
      CHECK(record.curve[k].hosts_busy_s.value() == Approx(*record.curve[k].flops / speed).epsilon(1e-9));
      CHECK(record.curve[k].hosts_down_s == 0.0);
    }
    CHECK(record.curve.back().bytes == record.bytes);
  }
}

TEST_CASE("a straggler's stretch is busy time, and no flops") {
  Trial trial{.program = ring_allreduce(), .workers = 2, .rows = 48, .features = 8};
  trial.flops_a_row = 1e4;
  trial.stop.steps = 3;
  const record::Record even = trial.run().record;
  trial.cluster.stragglers.choose("log_normal");
  const record::Record stretched = trial.run().record;
  CHECK(stretched.curve.back().flops.value() == Approx(*even.curve.back().flops).epsilon(1e-12));
  CHECK(std::abs(*stretched.curve.back().hosts_busy_s / *even.curve.back().hosts_busy_s - 1.0) > 1e-3);
}

}  // namespace cost_test
