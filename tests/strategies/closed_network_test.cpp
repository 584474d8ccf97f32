// Asynchronous workers that are out of phase: a closed network of queues, whose rate is known.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "strategies/programs.h"
#include "training/pace.h"

namespace closed_network_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr double t_c = 0.1;      // seconds of a gradient
constexpr double link_s = 0.01;  // of a message on a link of its own
constexpr double think_s = t_c + 2.0 * alpha;

/// An asynchronous server of P workers. Updates are free, so that a worker's round is its gradient, a push through the
/// server's incoming link and an answer through its outgoing one.
Trial asynchronous(int P, std::int64_t updates, double spread) {
  Trial trial{.program = parameter_server(Consistency::asp), .workers = P, .rows = P};
  trial.features = static_cast<std::int64_t>(link_s * B / 8.0);
  trial.flops_a_row = t_c * speed;
  trial.training.numbers = false;
  trial.training.desynchronise = spread;
  trial.cluster.charge_reductions = false;
  trial.stop.steps = updates;
  trial.evaluate.every_steps = updates / 5;
  return trial;
}

/// Updates a second after the first fifth of them.
double rate(Trial trial) {
  const record::Record record = trial.run().record;
  const record::Evaluation &first = record.curve.at(1), &last = record.curve.back();
  return static_cast<double>(last.step - first.step) / (last.simulated_s - first.simulated_s);
}

/// Updates a second of P customers that think for so long, then are served for so long by each of some stations: exact
/// mean value analysis, which has the answer with n customers from that with n - 1. A station shares its time fairly
/// among those present, as links do, or has exponential times.
/// Source: M. Reiser, S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks", 1980.
double mean_value_analysis(int P, const std::vector<double>& stations_s = {link_s, link_s},
                           double between_s = think_s) {
  std::vector<double> at_station(stations_s.size(), 0.0);
  double updates_a_s = 0.0;
  for (int n = 1; n <= P; ++n) {
    double round_s = between_s;
    std::vector<double> response_s;
    for (std::size_t k = 0; k < stations_s.size(); ++k) {
      response_s.push_back(stations_s[k] * (1.0 + at_station[k]));
      round_s += response_s.back();
    }
    updates_a_s = n / round_s;
    for (std::size_t k = 0; k < stations_s.size(); ++k) at_station[k] = updates_a_s * response_s[k];
  }
  return updates_a_s;
}

}  // namespace

TEST_CASE("mean value analysis has the limits of one customer and of a full station") {
  CHECK(mean_value_analysis(1) == Approx(1.0 / (think_s + 2.0 * link_s)).epsilon(1e-12));
  CHECK(mean_value_analysis(10'000) == Approx(1.0 / link_s).epsilon(2e-4));
}

TEST_CASE("equal gradients that begin together meet at an asynchronous server for ever") {
  for (const int P : {2, 12, 48}) {
    CAPTURE(P);
    CHECK(rate(asynchronous(P, 10 * P, 0.0)) == Approx(P / (think_s + 2.0 * P * link_s)).epsilon(1e-9));
  }
}

TEST_CASE("an asynchronous server is as fast as mean value analysis says") {
  for (const int P : {1, 2, 4, 8, 12, 16, 24, 48}) {
    // Workers drift through their phases slowly: near the knee a mean over some thousand updates is off by a percent.
    double sum = 0.0;
    constexpr int seeds = 2;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Trial trial = asynchronous(P, 6'000, 0.05);
      trial.seed = seed;
      const double updates_a_s = rate(trial);
      sum += updates_a_s;
      // No schedule is faster than its slowest station, or than workers that never meet (but for draws of their times).
      CHECK(updates_a_s <= 1.001 * std::min(P / (think_s + 2.0 * link_s), 1.0 / link_s));
    }
    CAPTURE(P, sum / seeds, mean_value_analysis(P));
    CHECK(std::abs(sum / seeds / mean_value_analysis(P) - 1.0) < 0.02);
  }
}

TEST_CASE("where links bind, an asynchronous server is within 3 % of mean value analysis from 2,000 updates on") {
  // A gradient takes an eighth of a message, so that its own spread would leave workers in phase for very long.
  constexpr double message_s = 1.28e-3, gradient_s = 0.16e-3;
  for (const int P : {2, 4, 8, 16}) {
    double sum = 0.0;
    constexpr int seeds = 3;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Trial trial = asynchronous(P, 2'500, training::Options().desynchronise);
      trial.seed = seed;
      trial.features = static_cast<std::int64_t>(message_s * B / 8.0);
      trial.flops_a_row = gradient_s * speed;
      sum += rate(trial);
    }
    const double analysed = mean_value_analysis(P, {message_s, message_s}, gradient_s + 2.0 * alpha);
    CAPTURE(P, sum / seeds, analysed);
    CHECK(std::abs(sum / seeds / analysed - 1.0) < 0.03);
  }
}

TEST_CASE("a round's spread is that of its longer part, and at most the gradient's whole time") {
  CHECK(training::spread_of_gradient(0.05, 0.0, 0.0) == 0.05);  // the first gradient
  CHECK(training::spread_of_gradient(0.05, 1.5, 1.0) == 0.05);  // gradients are the longer part
  CHECK(training::spread_of_gradient(0.05, 5.0, 1.0) == Approx(0.2).epsilon(1e-12));
  CHECK(training::spread_of_gradient(0.05, 50.0, 1.0) == 1.0);
  CHECK(training::spread_of_gradient(0.0, 50.0, 1.0) == 0.0);
}

TEST_CASE("updates of constant time keep a server between mean value analysis and its bounds") {
  for (const int P : {4, 12, 24}) {
    Trial trial = asynchronous(P, 6'000, 0.05);
    trial.cluster.charge_reductions = true;
    const double update_s = 2.0 * static_cast<double>(trial.features) / speed;
    const double updates_a_s = rate(trial);
    CAPTURE(P, updates_a_s);
    CHECK(updates_a_s > 0.98 * mean_value_analysis(P, {link_s, link_s, update_s}));
    CHECK(updates_a_s <= 1.001 * std::min(P / (think_s + 2.0 * link_s + update_s), 1.0 / link_s));
  }
}

TEST_CASE("a worker's gradients take the multiples that seed, rank and step draw") {
  constexpr double spread = 0.05;
  Trial trial = asynchronous(3, 60, spread);
  trial.features = 1;
  trial.cluster.host_spec = {.speed_flops_per_s = speed, .bandwidth_bytes_per_s = 1e15, .latency_s = 0.0};
  trial.evaluate.every_steps = 1;
  std::vector<double> ends;  // of all gradients: messages take no time
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    double now = 0.0;
    for (std::uint64_t step = 0; step < 60; ++step) {
      base::Stream stream({.seed = 1, .purpose = base::Purpose::pace, .step = step, .rank = rank});
      ends.push_back(now += t_c * training::multiple_of_gradient(stream, spread, step == 0));
    }
  }
  std::ranges::sort(ends);
  const record::Record record = trial.run().record;
  REQUIRE(record.curve.size() == 61);
  for (std::size_t update = 1; update <= 60; ++update)
    CHECK(record.curve[update].simulated_s == Approx(ends[update - 1]).epsilon(1e-9));
}

TEST_CASE("a single worker and synchronous strategies take no notice of desynchronise, bit for bit") {
  const auto same = [](Trial trial) {
    trial.training.desynchronise = 0.0;
    const Outcome plain = trial.run();
    trial.training.desynchronise = 0.3;
    const Outcome spread = trial.run();
    return plain.record.simulated_s == spread.record.simulated_s && plain.evaluated == spread.evaluated;
  };
  CHECK(same(asynchronous(1, 20, 0.0)));
  for (const auto& [name, program] : parallel_strategies()) {
    Trial trial{.program = program};
    trial.flops_a_row = 1e5;  // gradients take longer than messages
    trial.stop.steps = 12;
    CAPTURE(name);
    CHECK(same(trial) == !program.traits(trial.workers).asynchronous);
  }
  Trial cores{.program = hogwild()};
  cores.stop.steps = 12;
  CHECK(!same(cores));
}

}  // namespace closed_network_test
