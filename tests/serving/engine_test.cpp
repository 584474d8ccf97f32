// The times of requests: closed forms of prefill, decoding, sums among tensor ranks, stages and queues.
#include "serving/engine.h"

#include "catch.h"
#include "serving/served.h"

namespace serving_engine_test {

using namespace simgrad;
using namespace simgrad::tests;

constexpr double p = 10.0, o = 6.0;  // tokens of a prompt and of an answer

/// Flops of T tokens that meet so many keys, and of so many tokens that are chosen.
double flops(const ServingTrial& trial, double T, double pairs, double chosen) {
  const auto L = static_cast<double>(trial.shape().layers), h = static_cast<double>(trial.shape().hidden);
  return 2.0 * T * L * trial.block() + 4.0 * h * L * pairs + 2.0 * chosen * trial.head();
}

/// Bytes of the parameters and of the keys and values of so many tokens.
double bytes(const ServingTrial& trial, double cached) {
  const auto L = static_cast<double>(trial.shape().layers), h = static_cast<double>(trial.shape().hidden);
  return 8.0 * (L * trial.block() + trial.head() + 2.0 * h * L * cached);
}

TEST_CASE("a prompt takes two flops a parameter and token, and each later token its own") {
  const ServingTrial trial = at_once(1, 10, 6);
  const double first = flops(trial, p, 0.5 * p * (p + 1.0), 1.0) / trial.speed;
  double all = first;
  for (double j = 1.0; j < o; ++j) all += flops(trial, 1.0, p + j, 1.0) / trial.speed;
  const ServedRun run = trial.run();
  CHECK(run.requests[0].first_token_s == Approx(first).epsilon(1e-9));
  CHECK(run.requests[0].end_s == Approx(all).epsilon(1e-9));
  CHECK(run.simulated_s == Approx(all).epsilon(1e-9));
  CHECK(run.utilisation == Approx(1.0).epsilon(1e-9));
  CHECK(run.memory_bound == 0.0);
}

TEST_CASE("decoding bound by memory reads parameters and cache once a token") {
  ServingTrial trial = at_once(1, 10, 6);
  trial.speed = 1e18;
  trial.options.memory_bandwidth_bytes_per_s = 1e9;
  double all = bytes(trial, p) / 1e9;
  for (double j = 1.0; j < o; ++j) all += bytes(trial, p + j) / 1e9;
  const ServedRun run = trial.run();
  CHECK(run.simulated_s == Approx(all).epsilon(1e-9));
  CHECK(run.memory_bound == Approx(1.0).epsilon(1e-9));
}

TEST_CASE("requests that come together are answered in lockstep, and parameters are read once for all") {
  ServingTrial trial = at_once(4, 10, 6);
  trial.speed = 1e18;
  trial.options.memory_bandwidth_bytes_per_s = 1e9;
  double all = bytes(trial, 4.0 * p) / 1e9;
  for (double j = 1.0; j < o; ++j) all += bytes(trial, 4.0 * (p + j)) / 1e9;
  const ServedRun run = trial.run();
  for (const auto& each : run.requests) CHECK(each.end_s == Approx(all).epsilon(1e-9));
  CHECK(run.iterations == o);
}

TEST_CASE("tensor ranks divide the products and sum twice a block, once for the look-up and once for the choice") {
  ServingTrial trial = at_once(1, 10, 6);
  trial.tensor = 2;
  trial.alpha = 1e-4;
  const auto L = static_cast<double>(trial.shape().layers), h = static_cast<double>(trial.shape().hidden);
  // A ring of two: 2 (alpha + n / 2 x 8 / B); of the choice n = 2 numbers a token.
  const auto sum = [&](double n) { return 2.0 * (trial.alpha + 4.0 * n / trial.bandwidth); };
  const auto iteration = [&](double T, double pairs) {
    return 0.5 * flops(trial, T, pairs, 1.0) / trial.speed + (2.0 * L + 1.0) * sum(T * h) + sum(2.0);
  };
  double all = iteration(p, 0.5 * p * (p + 1.0));
  for (double j = 1.0; j < o; ++j) all += iteration(1.0, p + j);
  const ServedRun run = trial.run();
  CHECK(run.simulated_s == Approx(all).epsilon(1e-9));
  // 2 (t - 1) n x 8 bytes a sum over both ranks.
  CHECK(run.bytes == Approx(16.0 * ((2.0 * L + 1.0) * (p + o - 1.0) * h + 2.0 * o)).epsilon(1e-12));
}

TEST_CASE("the slowest tensor rank decides") {
  ServingTrial trial = at_once(1, 10, 6);
  trial.tensor = 2;
  const double both = trial.run().simulated_s;
  trial.relative_speeds = {1.0, 0.5};
  double sums = both;
  for (double j = 1.0; j < o; ++j) sums -= 0.5 * flops(trial, 1.0, p + j, 1.0) / trial.speed;
  sums -= 0.5 * flops(trial, p, 0.5 * p * (p + 1.0), 1.0) / trial.speed;
  CHECK(trial.run().simulated_s == Approx(2.0 * (both - sums) + sums).epsilon(1e-9));
}

TEST_CASE("a token goes through the stages one after the other, and back to the first") {
  ServingTrial trial = at_once(1, 10, 6);
  trial.pipeline = 2;
  trial.alpha = 1e-4;
  const auto h = static_cast<double>(trial.shape().hidden);
  const auto iteration = [&](double T, double pairs) {
    const double hop = trial.alpha + T * h * 8.0 / trial.bandwidth, back = trial.alpha + 4.0 / trial.bandwidth;
    return flops(trial, T, pairs, 1.0) / trial.speed + hop + back;
  };
  double all = iteration(p, 0.5 * p * (p + 1.0));
  for (double j = 1.0; j < o; ++j) all += iteration(1.0, p + j);
  CHECK(trial.run().simulated_s == Approx(all).epsilon(1e-9));
}

TEST_CASE("the first rank of a later stage spreads what it has got among its tensor ranks") {
  ServingTrial trial = at_once(1, 10, 6);
  trial.pipeline = 2;
  trial.tensor = 4;
  trial.alpha = 1e-4;
  const auto L = static_cast<double>(trial.shape().layers), h = static_cast<double>(trial.shape().hidden);
  // A ring of four: 6 (alpha + n / 4 x 8 / B), of the choice one number in each of two chunks; a tree of two rounds.
  const auto sum = [&](double n) { return 6.0 * trial.alpha + 12.0 * n / trial.bandwidth; };
  const double choice = 6.0 * trial.alpha + 6.0 * 8.0 / trial.bandwidth;
  const auto iteration = [&](double T, double pairs) {
    const double message = trial.alpha + T * h * 8.0 / trial.bandwidth, back = trial.alpha + 4.0 / trial.bandwidth;
    return 0.25 * flops(trial, T, pairs, 1.0) / trial.speed + (2.0 * L + 1.0) * sum(T * h) + choice + 3.0 * message +
           back;
  };
  double all = iteration(p, 0.5 * p * (p + 1.0));
  for (double j = 1.0; j < o; ++j) all += iteration(1.0, p + j);
  CHECK(trial.run().simulated_s == Approx(all).epsilon(1e-9));
}

TEST_CASE("a straggler slows the computing of its group, and not its sums") {
  ServingTrial trial = at_once(1, 10, 6);
  trial.tensor = 2;
  trial.alpha = 1e-4;
  const ServedRun plain = trial.run();
  trial.slowdown = 3.0;
  CHECK(trial.run().simulated_s == Approx(plain.simulated_s * (1.0 + 2.0 * plain.utilisation)).epsilon(1e-9));
}

TEST_CASE("two stages work on two requests at one time") {
  ServingTrial trial = at_once(2, 10, 1);
  trial.pipeline = 2;
  trial.model->options.layers = 4;
  // The second request comes to the second stage while the first one is there, and waits for its choice of a token.
  const double h = static_cast<double>(trial.shape().hidden);
  const double links = (p * h * 8.0 + 4.0) / trial.bandwidth;
  const double prompt = flops(trial, p, 0.5 * p * (p + 1.0), 0.0) / trial.speed,
               choice = 2.0 * trial.head() / trial.speed;
  const ServedRun run = trial.run();
  CHECK(run.requests[0].end_s == Approx(prompt + choice + links).epsilon(1e-9));
  CHECK(run.requests[1].end_s == Approx(1.5 * prompt + 2.0 * choice + links).epsilon(1e-9));
}

TEST_CASE("a long prompt in chunks lets the tokens of others pass beside it") {
  ServingTrial trial = at_once(2, 10, 4);
  trial.options.prefill_chunk = 5;
  const ServedRun run = trial.run();
  // Two iterations for each prompt; the second one's stand beside the first one's tokens: 4 a piece, then 2.
  CHECK(run.iterations == 8.0);
  CHECK(run.requests[0].first_token_s < run.requests[1].first_token_s);
}

TEST_CASE("a full cache keeps requests waiting until one is complete") {
  ServingTrial trial = at_once(2, 10, 6);
  const auto L = static_cast<double>(trial.shape().layers), h = static_cast<double>(trial.shape().hidden);
  const serving::Fleet fleet = trial.fleet();
  trial.options.memory_share = 1.0;
  trial.memory_bytes = fleet.costs[0].parameter_bytes() + 16.0 * L * h * (p + o);  // one request, to the byte
  const ServedRun run = trial.run();
  CHECK(run.requests[1].start_s == run.requests[0].end_s);
  CHECK(run.cache_share == Approx(1.0).epsilon(1e-12));
  CHECK(serving::memory_refusal(trial.fleet(), trial.options, serving::expected(trial.options)).empty());
  *trial.memory_bytes -= 1.0;
  CHECK_THAT(serving::memory_refusal(trial.fleet(), trial.options, serving::expected(trial.options)),
             StartsWith("the cache does not fit"));
}

TEST_CASE("requests go to the replica with the fewest tokens, or round") {
  ServingTrial trial = at_once(4, 10, 6);
  trial.replicas = 2;
  std::vector<std::int64_t> replicas;
  for (const auto& each : trial.run().requests) replicas.push_back(each.replica);
  CHECK(replicas == std::vector<std::int64_t>{0, 1, 0, 1});
  trial.relative_speeds = {1.0, 0.25};
  trial.options.arrivals = serving::Arrivals::constant;
  trial.options.requests = 40;
  trial.options.rate_per_s =
      0.5 * serving::capacity_requests_per_s(trial.fleet(), trial.options, serving::expected(trial.options));
  trial.options.batch_size = 1;
  const auto slow_share = [&] {
    double count = 0.0;
    for (const auto& each : trial.run().requests) count += each.replica == 1 ? 1.0 : 0.0;
    return count / 40.0;
  };
  CHECK(slow_share() < 0.4);
  trial.options.router = serving::Router::round_robin;
  CHECK(slow_share() == 0.5);
}

TEST_CASE("the mean wait of single answers at random arrivals is that of M/D/1") {
  ServingTrial trial = at_once(20000, 10, 1);
  trial.options.arrivals = serving::Arrivals::poisson;
  trial.options.batch_size = 1;
  const double S = flops(trial, p, 0.5 * p * (p + 1.0), 1.0) / trial.speed;
  for (const double rho : {0.5, 0.8}) {
    trial.options.rate_per_s = rho / S;
    std::vector<double> waits;
    for (trial.seed = 1; trial.seed <= 8; ++trial.seed) waits.push_back(trial.run().mean_queue_s());
    const double mean = std::accumulate(waits.begin(), waits.end(), 0.0) / 8.0;
    double squares = 0.0;
    for (const double each : waits) squares += (each - mean) * (each - mean);
    const double error = std::sqrt(squares / 7.0 / 8.0);
    const double formula = rho * S / (2.0 * (1.0 - rho));  // Pollaczek and Khinchine
    INFO(rho << ": " << mean << " of " << formula << ", standard error " << error);
    CHECK(error < 0.05 * formula);
    CHECK(std::abs(mean - formula) < 4.0 * error);
  }
}

TEST_CASE("the capacity of single answers is one a service time, of each replica") {
  ServingTrial trial = at_once(3, 10, 1);
  trial.options.batch_size = 1;
  trial.replicas = 3;
  const double S = flops(trial, p, 0.5 * p * (p + 1.0), 1.0) / trial.speed;
  const auto expected = serving::expected(trial.options);
  CHECK(serving::capacity_requests_per_s(trial.fleet(), trial.options, expected) == Approx(3.0 / S).epsilon(1e-9));
  trial.relative_speeds = {1.0, 1.0, 0.5};
  CHECK(serving::capacity_requests_per_s(trial.fleet(), trial.options, expected) == Approx(2.5 / S).epsilon(1e-9));
  trial.options.router = serving::Router::round_robin;
  CHECK(serving::capacity_requests_per_s(trial.fleet(), trial.options, expected) == Approx(1.5 / S).epsilon(1e-9));
}

TEST_CASE("no run answers more requests a second than the capacity, and full batches come near it") {
  for (const double alpha : {1e-6, 1e-4})
    for (const int pipeline : {1, 2})
      for (const int tensor : {1, 2}) {
        ServingTrial trial = at_once(400, 10, 20);
        trial.tensor = tensor;
        trial.pipeline = pipeline;
        trial.alpha = alpha;
        trial.options.batch_size = 16;
        trial.options.memory_bandwidth_bytes_per_s = 2e10;
        const ServedRun run = trial.run();
        const double rate = 400.0 / run.simulated_s;
        INFO(pipeline << " stages, " << tensor << " tensor ranks, " << alpha << " s: " << rate << " of "
                      << run.capacity);
        CHECK(rate < (1.0 + 1e-9) * run.capacity);
        CHECK(rate > 0.7 * run.capacity);
      }
}

TEST_CASE("the capacity of single answers counts sums among tensor ranks and messages between stages") {
  ServingTrial trial = at_once(1, 10, 1);
  trial.options.batch_size = 1;
  trial.tensor = trial.pipeline = 2;
  trial.alpha = 1e-4;
  const auto L = static_cast<double>(trial.shape().layers), h = static_cast<double>(trial.shape().hidden);
  // Rings of two: 2 (alpha + n / 2 x 8 / B); to the second rank of the second stage, to the next stage and back.
  const auto sum = [&](double n) { return 2.0 * trial.alpha + 8.0 * n / trial.bandwidth; };
  const double message = trial.alpha + p * h * 8.0 / trial.bandwidth, back = trial.alpha + 4.0 / trial.bandwidth;
  const double all = 0.5 * flops(trial, p, 0.5 * p * (p + 1.0), 1.0) / trial.speed + (2.0 * L + 1.0) * sum(p * h) +
                     sum(2.0) + 2.0 * message + back;
  const ServedRun run = trial.run();
  CHECK(run.simulated_s == Approx(all).epsilon(1e-9));
  CHECK(run.capacity == Approx(1.0 / all).epsilon(1e-9));
  trial.options.batch_size = 2;
  CHECK(trial.run().capacity == Approx(2.0 / all).epsilon(1e-9));  // an answer in each of two slots
}

TEST_CASE("rates are those between the warm-up and the last arrival") {
  ServingTrial trial = at_once(60, 10, 6);
  trial.options.rate_per_s = 0.4 * trial.run().capacity;
  trial.options.arrivals = serving::Arrivals::constant;
  trial.options.warm_up_s = 20.0 / *trial.options.rate_per_s;
  const ServedRun run = trial.run();
  // One comes and one ends in each gap, however long the last one takes to its end.
  CHECK(run.requests_per_s == Approx(*trial.options.rate_per_s).epsilon(1e-9));
  CHECK(run.tokens_per_s == Approx(o * *trial.options.rate_per_s).epsilon(1e-9));
}

}  // namespace serving_engine_test
