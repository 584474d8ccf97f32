// The formats of a training's numbers: what is rounded, what messages weigh, loss scales.
#include <cstring>

#include "strategies/programs.h"
#include "training/learning/loss_scales.h"
#include "values/rounding.h"

namespace precision_test {

using namespace simgrad;
using namespace simgrad::tests;
using training::Precision;
using values::Format;

std::vector<double> in_format(Format format, std::vector<double> x) {
  values::round_numbers(format, x, x);
  return x;
}

Trial trial_of(Precision precision, training::Program program, int workers) {
  Trial trial{.program = std::move(program), .workers = workers};
  trial.training.precision = precision;
  trial.stop.steps = 4;
  return trial;
}

TEST_CASE("one worker rounds parameters, gradient and update as the format says") {
  for (const auto& [precision, format] :
       {std::pair{Precision::float32, Format::float32}, std::pair{Precision::bfloat16, Format::bfloat16},
        std::pair{Precision::float8, Format::bfloat16}}) {
    const Trial trial = trial_of(precision, single(), 1);
    const Outcome outcome = trial.run();
    // w <- float32(w - lr g), g = format(gradient at format(w)); the score is that of format(w)
    std::vector<double> w(5, 0.0);
    REQUIRE(outcome.evaluated.size() == 5);
    for (const std::vector<double>& seen : outcome.evaluated) {
      const std::vector<double> at = in_format(format, w);
      CHECK(seen == at);
      const std::vector<double> g =
          in_format(format, gradient_of(trial, trial.data().train, {0, 48, {}}, at, 1.0 / 48.0));
      for (std::size_t j = 0; j < w.size(); ++j) w[j] -= 0.1 * g[j];
      w = in_format(Format::float32, w);
    }
  }
}

TEST_CASE("float64 is what it was without a precision, and bfloat16 is not float32") {
  const Outcome plain = trial_of(Precision::float64, allreduce("ring"), 4).run();
  const Outcome single_precision = trial_of(Precision::float32, allreduce("ring"), 4).run();
  const Outcome half = trial_of(Precision::bfloat16, allreduce("ring"), 4).run();
  CHECK(relative_distance(single_precision.evaluated.back(), plain.evaluated.back()) < 1e-6);
  CHECK(relative_distance(single_precision.evaluated.back(), plain.evaluated.back()) > 0.0);
  CHECK(relative_distance(half.evaluated.back(), plain.evaluated.back()) < 2e-2);
  CHECK(relative_distance(half.evaluated.back(), plain.evaluated.back()) > 1e-5);
}

TEST_CASE("messages of every kind weigh what the format says") {
  const std::vector<std::pair<std::string, training::Program>> programs{
      {"allreduce", allreduce("ring")},
      {"hierarchical by messages", allreduce("naive")},
      {"allreduce in buckets", allreduce("ring", 1.0)},
      {"mapreduce", mapreduce()},
      {"data_parallel", data_parallel()},
  };
  for (const auto& [name, program] : programs) {
    INFO(name);
    const auto bytes = [&](Precision precision) {
      Trial trial = trial_of(precision, program, 4);
      trial.features = 8;
      trial.training.numbers = false;
      return trial.run().record.bytes;
    };
    const std::int64_t plain = bytes(Precision::float64);
    // data_parallel sends rows of data besides, with their targets, 8 bytes a number
    const std::int64_t rows = name == "data_parallel" ? 4 * 36 * 9 * 8 : 0;
    CHECK(2 * (bytes(Precision::float32) - rows) == plain - rows);
    for (const Precision half : {Precision::bfloat16, Precision::float16, Precision::float8})
      CHECK(4 * (bytes(half) - rows) == plain - rows);
  }
}

TEST_CASE("a format's run is the same by messages, with threads, and again") {
  for (const Precision precision : {Precision::float32, Precision::bfloat16, Precision::float16}) {
    const auto run = [&](cluster::Collectives collectives, int threads) {
      Trial trial = trial_of(precision, allreduce("ring"), 4);
      trial.cluster.collectives = collectives;
      trial.threads = threads;
      return trial.run();
    };
    const Outcome first = run(cluster::Collectives::automatic, 0);
    for (const Outcome& other : {run(cluster::Collectives::messages, 0), run(cluster::Collectives::automatic, 2)}) {
      CHECK(other.evaluated == first.evaluated);
      CHECK(other.record.simulated_s == Approx(first.record.simulated_s).epsilon(1e-12));
      CHECK(other.record.bytes == first.record.bytes);
    }
  }
}

TEST_CASE("the sum of scaled float16 gradients keeps numbers that float16 alone rounds to zero") {
  values::Dispatcher dispatcher({.label = {}});
  const double small = 0x1p-30;  // below half of float16's least number, 2^-24
  const values::WireFormat plain = values::wire_format(Format::float16);
  values::WireFormat scaled = plain;
  scaled.exponent = 16;
  const auto sum_in = [&](const values::WireFormat& wire, double x, double y) {
    const auto made = [&](double number, const char* name) {
      return dispatcher.dispatch({.name = name, .wire_format = wire}, 1, {},
                                 [number](auto, std::span<double> result) { result[0] = number; });
    };
    return (made(x, "x") + made(y, "y")).value()[0];
  };
  CHECK(sum_in(plain, small, small) == 0.0);
  CHECK(sum_in(scaled, small, small) == 2.0 * small);
  // 65504 is the greatest number: 2^-16 of it is the greatest sum with that scale
  CHECK(std::isinf(sum_in(scaled, 0.75, 0.75)));
  CHECK(sum_in(plain, 0.75, 0.75) == 1.5);
}

TEST_CASE("a loss scale is halved after an overflow and doubled after 2000 updates without one") {
  training::LossScales scales(true);
  CHECK(scales.exponent(0) == 16);
  CHECK(scales.note().empty());
  CHECK_FALSE(scales.applies(0, false));
  CHECK(scales.exponent(0) == 15);
  CHECK(scales.exponent(1) == 16);
  for (int update = 0; update < 2000; ++update) CHECK(scales.applies(0, true));
  CHECK(scales.exponent(0) == 16);
  CHECK(scales.note().find("1 update whose gradient had overflowed was left out") != std::string::npos);
}

TEST_CASE("float16 leaves out the update whose gradient overflows, and halves the scale") {
  // With 65504 as its greatest number, a gradient g overflows at the scale 2^16 if |g| > 65504 / 65536.
  Trial trial = trial_of(Precision::float16, allreduce("ring"), 4);
  const auto largest = [&] {
    double most = 0.0;
    for (const double g_j : gradient_of(trial, trial.data().train, {0, 48, {}}, std::vector<double>(5, 0.0), 1.0 / 48))
      most = std::max(most, std::abs(g_j));
    return most;
  };
  while (!(largest() > 1.05 && largest() < 1.9)) ++trial.seed;
  const Outcome outcome = trial.run();
  CHECK(outcome.evaluated[0] == outcome.evaluated[1]);
  CHECK(outcome.evaluated[1] != outcome.evaluated[2]);
  const std::string note =
      "float16: 4 updates whose gradient had overflowed were left out; the loss scale is 2^15 at the end";
  CHECK(outcome.record.notes == std::vector<std::string>{note});
}

}  // namespace precision_test
