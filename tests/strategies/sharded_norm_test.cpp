// The norm of a gradient whose shards are on several workers: clipping, and float16 gradients that overflow.
#include <algorithm>
#include <cmath>
#include <memory>

#include "strategies/programs.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"

namespace sharded_norm_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Fsdp;
using strategies::Zero;
using training::Precision;

namespace {

training::Program zero(std::int64_t stage, std::int64_t micro_batches = 1) {
  auto strategy = std::make_shared<Zero>();
  strategy->stage = stage;
  strategy->bucket_bytes = {};  // stage 2: unit by unit
  strategy->micro_batches = micro_batches;
  return strategies::program(strategy);
}

training::Program fsdp(std::optional<std::int64_t> group = {}) {
  auto strategy = std::make_shared<Fsdp>();
  strategy->shard_group = group;
  return strategies::program(strategy);
}

Trial trained(training::Program program, int P, Precision precision = Precision::float64) {
  Trial trial{.program = std::move(program), .workers = P, .rows = 60, .features = 13};
  trial.layers = 4;
  trial.training.precision = precision;
  trial.stop.steps = 6;
  return trial;
}

std::vector<double> first_gradient(const Trial& trial) {
  const auto rows = trial.rows;
  return gradient_of(trial, trial.data().train, {0, rows, {}}, std::vector<double>(13, 0.0),
                     1.0 / static_cast<double>(rows));
}

double norm(const std::vector<double>& g) {
  double squares = 0.0;
  for (const double g_j : g) squares += g_j * g_j;
  return std::sqrt(squares);
}

void check_near(const Outcome& outcome, const Outcome& expected, double within) {
  REQUIRE(outcome.record.error.empty());
  REQUIRE(outcome.evaluated.size() == expected.evaluated.size());
  for (std::size_t k = 0; k < expected.evaluated.size(); ++k)
    CHECK(relative_distance(outcome.evaluated[k], expected.evaluated[k]) <= within);
}

}  // namespace

TEST_CASE("gradients in shards are clipped by the norm of the whole, in which every parameter counts once") {
  const double most = 0.5 * norm(first_gradient(trained(zero(1), 6)));
  const auto clipped = [&](training::Program program, int P, Precision precision) {
    Trial trial = trained(std::move(program), P, precision);
    trial.training.clip_norm = most;
    return trial.run();
  };
  for (const Precision precision : {Precision::float64, Precision::float32, Precision::bfloat16})
    for (const int P : {1, 2, 3, 6}) {
      CAPTURE(P, static_cast<int>(precision));
      // In a format a last digit of the norm may decide how a parameter is rounded.
      const double within = precision == Precision::float64 ? 1e-12 : 1e-6;
      const Outcome in_layers = clipped(allreduce("ring", 1.0), P, precision);
      CHECK(in_layers.evaluated[1] != trained(allreduce("ring", 1.0), P, precision).run().evaluated[1]);
      for (const int stage : {1, 2, 3}) {
        CAPTURE(stage);
        check_near(clipped(zero(stage), P, precision),
                   stage == 1 ? clipped(allreduce("ring"), P, precision) : in_layers, within);
      }
      check_near(clipped(fsdp(), P, precision), in_layers, within);
      if (precision == Precision::float64 && P % 3 == 0) {
        check_near(clipped(fsdp(3), P, precision), in_layers, within);
        check_near(clipped(zero(2, 2), P, precision), in_layers, within);
      }
    }
}

TEST_CASE("an overflow in the shard of one worker leaves out the update of all, as under allreduce, bit for bit") {
  constexpr int P = 4;
  // At the scale 2^16 a gradient overflows above 65504 / 65536: here in one number alone, so in one worker's shard.
  std::uint64_t seed = 1;
  for (;; ++seed) {
    Trial trial = trained(zero(1), P);
    trial.seed = seed;
    std::vector<double> sizes;
    for (const double g_j : first_gradient(trial)) sizes.push_back(std::abs(g_j));
    std::ranges::sort(sizes, std::ranges::greater());
    if (sizes[0] > 1.05 && sizes[0] < 1.9 && sizes[1] < 0.9) break;
    REQUIRE(seed < 10'000);
  }
  const auto run = [&](training::Program program) {
    Trial trial = trained(std::move(program), P, Precision::float16);
    trial.seed = seed;
    return trial.run();
  };
  const Outcome whole = run(allreduce("ring")), in_layers = run(allreduce("ring", 1.0));
  const std::string note =
      "float16: 4 updates whose gradient had overflowed were left out; the loss scale is 2^15 at the end";
  for (const Outcome* outcome : {&whole, &in_layers}) {
    REQUIRE(outcome->record.notes == std::vector{note});
    CHECK(outcome->evaluated[0] == outcome->evaluated[1]);
    CHECK(outcome->evaluated[1] != outcome->evaluated[2]);
  }
  for (const auto& [program, expected] : {std::pair{zero(1), &whole}, std::pair{zero(2), &in_layers},
                                          std::pair{zero(3), &in_layers}, std::pair{fsdp(), &in_layers}}) {
    const Outcome outcome = run(program);
    REQUIRE(outcome.record.error.empty());
    CHECK(outcome.record.notes == std::vector{note});
    CHECK(outcome.evaluated == expected->evaluated);
  }
  check_near(run(fsdp(2)), in_layers, 1e-3);  // sums in another order, rounded to float16
}

TEST_CASE("clipping in shards and float16 cost an allreduce of one number before the update") {
  constexpr std::int64_t d = 8'000;
  constexpr double gamma_s = 1.0 / (8.0 * speed);  // s/byte: one addition a double
  const auto timed = [](training::Program program, int P) {
    Trial trial{.program = std::move(program), .workers = P, .rows = 2 * P, .features = d};
    trial.flops_a_row = 1e6;
    trial.training.numbers = false;
    trial.stop.steps = 2;
    return trial;
  };
  for (const int P : {1, 2, 4, 8}) {
    CAPTURE(P);
    const double shard = 8.0 * d / P;  // bytes
    const double exchange_s = std::log2(P) * (alpha + 8 / B + 8 * gamma_s);
    for (const auto& program : {zero(1), zero(3)}) {
      Trial plain = timed(program, P), clipped = timed(program, P);
      clipped.training.clip_norm = 1.0;
      const double update_s = 3.0 * d / P / speed;  // the norm's two flops a number, the scaling's one
      CHECK(clipped.run().record.simulated_s - plain.run().record.simulated_s ==
            Approx(2 * (exchange_s + update_s)).epsilon(1e-9));
    }
    Trial clipped = timed(zero(1), P);
    clipped.training.clip_norm = 1.0;
    const double step_s =
        clipped.gradient_s() + (P - 1) * (2 * alpha + shard * (2 / B + gamma_s)) + exchange_s + 5.0 * d / P / speed;
    const record::Record record = clipped.run().record;
    CHECK(record.simulated_s == Approx(2 * step_s).epsilon(1e-9));
    const auto exchange = std::ranges::find(record.collectives, "recursive_doubling", &record::CollectiveUse::name);
    REQUIRE((exchange != record.collectives.end()) == (P > 1));
    if (P > 1) CHECK((exchange->bytes == 8 && exchange->calls == 2 && *exchange->exposed_s == *exchange->duration_s));
  }
  // In float16 numbers are a quarter as long, and so are additions; the norm stays a float64.
  const auto step_s = [&](Precision precision) {
    Trial trial = timed(zero(1), 4);
    trial.training.precision = precision;
    return trial.run().record.simulated_s / 2;
  };
  CHECK(step_s(Precision::float16) - step_s(Precision::bfloat16) ==
        Approx(2 * (alpha + 8 / B + 8 * gamma_s)).epsilon(1e-6));
}

}  // namespace sharded_norm_test
