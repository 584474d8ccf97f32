// Compressed gradients through an allreduce: equal to none where nothing is left out, at the time of fewer bytes.
#include <algorithm>
#include <cmath>

#include "strategies/compressed.h"

namespace compression_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t d = 6;
constexpr std::int64_t steps = 40;

Trial trial_of(training::Program program, int workers = 4) {
  Trial trial{.program = std::move(program), .workers = workers, .rows = 48, .features = d};
  trial.stop.steps = steps;
  return trial;
}

training::Program ring(const Compressor& compression, std::optional<double> bucket_bytes = {}) {
  auto strategy = around_a_ring<strategies::Allreduce>();
  strategy->compression = compression.slot();
  strategy->bucket_bytes = bucket_bytes;
  return strategies::program(strategy);
}

/// Returns the time of one step, from a few steps of timing: every step takes as long.
double step_s(training::Program program, std::int64_t features, int P) {
  Trial trial{.program = std::move(program), .workers = P, .rows = 16, .features = features, .flops_a_row = 0.0};
  trial.stop.steps = 10;
  trial.training.numbers = false;
  return trial.run().record.simulated_s / 10.0;
}

}  // namespace

TEST_CASE("an allreduce whose compressor leaves nothing out is the one without") {
  const auto plain = trial_of(ring_allreduce()).run();
  for (const Exact& exact : exact_compressors(d)) {
    CAPTURE(exact.name);
    for (const std::optional<double> bucket : {std::optional<double>(), std::optional(1.0)}) {
      const auto same = trial_of(ring(exact.compression, bucket)).run();
      REQUIRE(same.record.error.empty());
      REQUIRE(same.evaluated.size() == plain.evaluated.size());
      CHECK(relative_distance(same.evaluated.back(), plain.evaluated.back()) <= exact.within);
    }
  }
}

TEST_CASE("every compressor trains, and all replicas stay equal") {
  const double start = norm_squared(trial_of(ring_allreduce()).run().evaluated.front());
  for (const auto& entry : training::compressors().entries()) {
    CAPTURE(entry.about.kind);
    const auto outcome = trial_of(ring(Compressor(entry.about.kind))).run();
    REQUIRE(outcome.record.error.empty());
    CHECK(outcome.evaluated.size() == steps + 1);
    CHECK(norm_squared(outcome.evaluated.back()) > start);
  }
}

TEST_CASE("codes that add up cost an allreduce of their bytes, encoding and decoding") {
  constexpr int P = 4;
  constexpr std::int64_t n = 4000;  // P and 8 divide it, and 2 n / 100
  const Trial any = trial_of(ring_allreduce());
  const double alpha = any.cluster.host_spec.latency_s;
  const double B = any.cluster.host_spec.bandwidth_bytes_per_s;
  const double flop = 1.0 / any.cluster.host_spec.speed_flops_per_s;
  const double update = 2.0 * n * flop;
  const auto ring_s = [&](double bytes, double numbers) {
    return 2 * (P - 1) * alpha + 2.0 * (P - 1) / P * bytes / B + (P - 1.0) / P * numbers * flop;
  };
  CHECK(step_s(ring(Compressor("none")), n, P) == Approx(ring_s(8.0 * n, n) + update).epsilon(1e-9));
  CHECK(step_s(ring(Compressor("float32")), n, P) == Approx(ring_s(4.0 * n, n) + 2 * n * flop + update).epsilon(1e-9));
  CHECK(step_s(ring(Compressor("float16")), n, P) == Approx(ring_s(2.0 * n, n) + 2 * n * flop + update).epsilon(1e-9));
  // random_k: 1 % of the numbers, 2 k to encode and k to decode.
  const double k = n / 100.0;
  CHECK(step_s(ring(Compressor("random_k")), n, P) == Approx(ring_s(8.0 * k, k) + 3 * k * flop + update).epsilon(1e-9));
}

TEST_CASE("codes that do not add up cost an all-gather of them, and decoding all") {
  constexpr int P = 4;
  constexpr std::int64_t n = 4000;
  const Trial any = trial_of(ring_allreduce());
  const double alpha = any.cluster.host_spec.latency_s;
  const double B = any.cluster.host_spec.bandwidth_bytes_per_s;
  const double flop = 1.0 / any.cluster.host_spec.speed_flops_per_s;
  const double update = 2.0 * n * flop;
  const auto gather_s = [&](double bytes) { return (P - 1) * (alpha + bytes / B); };
  const double k = n / 100.0;
  CHECK(step_s(ring(Compressor("top_k")), n, P) ==
        Approx(gather_s(k * 8) + (3.0 * n + (P - 1) * k) * flop + update).epsilon(1e-9));
  CHECK(step_s(ring(Compressor("sign")), n, P) ==
        Approx(gather_s(n / 8.0 + 4) + (2.0 * n + P * n + (P - 1.0) * n) * flop + update).epsilon(1e-9));
  CHECK(step_s(ring(Compressor("sign", {.error_feedback = true})), n, P) ==
        Approx(gather_s(n / 8.0 + 4) + (4.0 * n + P * n + (P - 1.0) * n) * flop + update).epsilon(1e-9));
}

TEST_CASE("error feedback sends in the end what it left out") {
  // A constant gradient g through top_k: after t steps all of t g has been sent but for what is remembered, so that no
  // direction is left behind. At lr -> 0 the gradient is nearly constant: 200 small steps move as those without
  // compression.
  auto trial = trial_of(ring(Compressor("top_k", {.error_feedback = true, .k = 1})));
  auto plain = trial_of(ring_allreduce());
  for (Trial* each : {&trial, &plain}) {
    each->stop.steps = 400;
    each->training.learning_rate = 1e-4;
  }
  auto forgetful = trial_of(ring(Compressor("top_k", {.k = 1})));
  forgetful.stop.steps = 400;
  forgetful.training.learning_rate = 1e-4;
  const auto moved = plain.run().evaluated.back();
  CHECK(relative_distance(trial.run().evaluated.back(), moved) < 0.05);
  CHECK(relative_distance(forgetful.run().evaluated.back(), moved) > 0.2);
}

TEST_CASE("a majority vote moves each parameter by the learning rate") {
  const auto outcome = trial_of(ring(Compressor("sign", {.majority = true})), 3).run();
  const double lr = trial_of(ring_allreduce()).training.learning_rate;
  for (std::size_t step = 1; step < outcome.evaluated.size(); ++step)
    for (std::size_t i = 0; i < static_cast<std::size_t>(d); ++i)
      REQUIRE(std::fabs(outcome.evaluated[step][i] - outcome.evaluated[step - 1][i]) == Approx(lr).epsilon(1e-9));
}

TEST_CASE("compressed runs repeat bit for bit, whatever the threads") {
  for (const char* kind : {"int8", "qsgd", "random_k", "power_sgd"}) {
    CAPTURE(kind);
    Trial one = trial_of(ring(Compressor(kind)));
    Trial two = one;
    two.threads = 2;
    CHECK(one.run().evaluated == two.run().evaluated);
    Trial other = one;
    other.cluster.collectives = cluster::Collectives::messages;
    const auto by_messages = other.run();
    CHECK(by_messages.evaluated == one.run().evaluated);
    CHECK(by_messages.record.simulated_s == Approx(one.run().record.simulated_s).epsilon(1e-9));
  }
}

}  // namespace compression_test
