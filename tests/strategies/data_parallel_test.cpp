// Data parallelism, distributed (allreduce, in buckets or not) and with a master device: times and numbers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "strategies/programs.h"

namespace data_parallel_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr int steps = 5;

Trial timed(training::Program program, int workers, std::int64_t features, int layers) {
  Trial trial{.program = std::move(program), .workers = workers, .rows = 2 * workers, .features = features};
  trial.flops_a_row = 4e6;
  trial.layers = layers;
  trial.training.numbers = false;
  trial.stop.steps = steps;
  trial.evaluate.every_steps = steps;
  return trial;
}

double gamma_of(const Trial& trial) { return trial.cluster.charge_reductions ? 1.0 / (8.0 * speed) : 0.0; }

double ring_s(const Trial& trial, double bytes) {
  const double P = trial.workers;
  return 2 * (P - 1) * alpha + (P - 1) / P * bytes * (2 / B + gamma_of(trial));
}

}  // namespace

TEST_CASE("a bucket is summed while the backward pass goes on below it") {
  constexpr int layers = 4;
  for (const int P : {2, 4, 8})
    for (const std::int64_t d : {std::int64_t{8 * 4 * 100}, std::int64_t{8 * 4 * 40'000}})
      for (const int a_bucket : {1, 2, 4}) {  // layers in a bucket
        const double M = 8.0 * static_cast<double>(d);
        const Trial trial = timed(allreduce("ring", a_bucket * M / layers), P, d, layers);
        CAPTURE(P, d, a_bucket);
        const double t = trial.gradient_s() / 2;  // forwards, and backwards
        double ready = t;
        double summed = 0.0;
        for (int layer = 0; layer < layers; layer += a_bucket) {
          ready += t * a_bucket / layers;
          summed = std::max(ready, summed) + ring_s(trial, M * a_bucket / layers);
        }
        const record::Record record = trial.run().record;
        REQUIRE(record.error.empty());
        const double update = 2.0 * static_cast<double>(d) / speed;
        CHECK(record.simulated_s == Approx(steps * (summed + update)).epsilon(1e-9));
        CHECK(record.messages == steps * 2 * P * (P - 1) * layers / a_bucket);
        // The exposed time is the part that the backward pass does not hide; the ring's additions are computing.
        const double exposed = summed - 2 * t;
        const record::RankUse& rank = record.ranks.front();
        CHECK(rank.compute_s + rank.communicate_s + rank.wait_s == Approx(record.simulated_s).epsilon(1e-9));
        CHECK(rank.communicate_s + rank.wait_s <= steps * exposed * (1 + 1e-9));
        CHECK(rank.communicate_s > 0.0);
      }
}

TEST_CASE("by default allreduce sums buckets of 25 MB, as the same bucket_size does, bit for bit") {
  constexpr int P = 4, layers = 4;
  constexpr std::int64_t d = 5'000'000;  // 10 MB a layer: three are a bucket, and the first layer is the other one
  const Trial trial = timed(strategies::program(around_a_ring<strategies::Allreduce>()), P, d, layers);
  const double t = trial.gradient_s() / 2;
  const double last_layers = t + 0.75 * t + ring_s(trial, 30e6);
  const double summed = std::max(2 * t, last_layers) + ring_s(trial, 10e6);
  const record::Record by_default = trial.run().record;
  const record::Record given = timed(allreduce("ring", 25e6), P, d, layers).run().record;
  REQUIRE(by_default.error.empty());
  CHECK(by_default.simulated_s == Approx(steps * (summed + 2.0 * static_cast<double>(d) / speed)).epsilon(1e-9));
  CHECK(by_default.simulated_s == given.simulated_s);
  CHECK(by_default.bytes == given.bytes);
  CHECK(by_default.messages == given.messages);
  CHECK(by_default.memory_bytes_max == given.memory_bytes_max);
  CHECK(by_default.simulated_s < timed(allreduce("ring"), P, d, layers).run().record.simulated_s);
}

TEST_CASE("one bucket takes exactly what all at once takes, and holds a copy of the gradient") {
  using strategies::Allreduce;
  const std::vector<std::function<void(Allreduce&)>> ways{
      [](Allreduce&) {},
      [](Allreduce& options) { options.algorithm.choose("recursive_doubling"); },
      [](Allreduce& options) { options.micro_batches = 2; },
      [](Allreduce& options) { options.no_sync = (options.micro_batches = 2) > 1; },
      [](Allreduce& options) { options.compression.choose("int8"); },
      [](Allreduce& options) { options.compression.choose("power_sgd"); },
      [](Allreduce& options) { options.compression.choose("top_k"); }};
  for (std::size_t k = 0; k < ways.size(); ++k) {
    CAPTURE(k);
    const auto outcome = [&](std::optional<double> bucket_bytes) {
      auto options = std::make_shared<Allreduce>();
      ways[k](*options);
      options->bucket_bytes = bucket_bytes;
      Trial trial{.program = strategies::program(options), .workers = 5, .rows = 60, .features = 12};
      trial.layers = 3;
      trial.stop.steps = 6;
      return trial.run();
    };
    const Outcome whole = outcome({}), bucket = outcome(Allreduce::default_bucket_bytes);
    REQUIRE(whole.record.error.empty());
    CHECK(bucket.evaluated == whole.evaluated);
    CHECK(bucket.record.simulated_s == whole.record.simulated_s);
    CHECK(bucket.record.bytes == whole.record.bytes);
    CHECK(bucket.record.messages == whole.record.messages);
    const auto copies = static_cast<std::size_t>(record::MemoryPart::buckets);
    CHECK(whole.record.ranks.front().memory[copies].value() == 0.0);
    CHECK(bucket.record.ranks.front().memory[copies].value() == 8.0 * 12);
  }
}

TEST_CASE("buckets hide communication that one allreduce after the backward pass leaves exposed") {
  const std::int64_t d = 8 * 4 * 10'000;
  const auto exposed = [&](const training::Program& program) {
    Trial trial = timed(program, 4, d, 8);
    trial.cluster.charge_reductions = false;
    const record::Record record = trial.run().record;
    return record.ranks.front().communicate_s + record.ranks.front().wait_s;
  };
  const double M = 8.0 * static_cast<double>(d);
  const double whole = exposed(allreduce("ring"));
  Trial trial = timed(allreduce("ring"), 4, d, 8);
  trial.cluster.charge_reductions = false;
  CHECK(whole == Approx(steps * ring_s(trial, M)).epsilon(1e-9));
  CHECK(exposed(allreduce("ring", M / 8)) < 0.6 * whole);
  CHECK(exposed(allreduce("ring", M)) == Approx(whole).epsilon(1e-9));  // one bucket hides nothing
}

TEST_CASE("in buckets and all at once gradients sum up to the same parameters") {
  const auto parameters = [](training::Program program) {
    Trial trial{.program = std::move(program), .workers = 5, .rows = 50, .features = 12};
    trial.layers = 4;
    trial.stop.steps = 100;
    return trial.run().evaluated.back();
  };
  const auto whole = parameters(allreduce("ring"));
  CHECK(relative_distance(parameters(allreduce("ring", 1.0)), whole) < 1e-12);
  CHECK(relative_distance(parameters(allreduce("tree", 50.0)), whole) < 1e-12);
  CHECK(relative_distance(parameters(data_parallel()), whole) < 1e-12);
}

TEST_CASE("a data_parallel step takes 2 alpha + (2(P-1) M + the others' rows) beta + t_c + (P-1) M gamma + update") {
  for (const int P : {1, 2, 5, 16})
    for (const std::int64_t d : {1, 1000, 100'000}) {
      CAPTURE(P, d);
      const Trial trial = timed(data_parallel(), P, d, 1);
      const double M = 8.0 * static_cast<double>(d);
      const double rows = 2.0 * (M + 8);  // two a rank, with their targets
      const double step = P == 1 ? 0.0 : 2 * alpha + (P - 1) * ((2 * M + rows) / B + M * gamma_of(trial));
      const record::Record record = trial.run().record;
      REQUIRE(record.error.empty());
      CHECK(record.simulated_s ==
            Approx(steps * (step + trial.gradient_s() + 2.0 * static_cast<double>(d) / speed)).epsilon(1e-9));
      CHECK(record.messages == steps * 2 * (P - 1));
      CHECK(static_cast<double>(record.bytes) == Approx(steps * (P - 1) * (2 * M + rows)).epsilon(1e-12));
      CHECK(record.samples == steps * 2 * P);
    }
}

TEST_CASE("the master's link grows with the devices, the ring's does not") {
  const auto step_s = [](training::Program program, int P) {
    Trial trial = timed(std::move(program), P, 720'720, 1);
    trial.flops_a_row = 0.0;
    trial.cluster.charge_reductions = false;
    return trial.run().record.simulated_s;
  };
  CHECK(step_s(data_parallel(), 16) > 4 * step_s(data_parallel(), 4));
  CHECK(step_s(ring_allreduce(), 16) < 1.5 * step_s(ring_allreduce(), 4));
}

TEST_CASE("buckets of a model of one layer overlap nothing, which the run says") {
  const auto notes = [](int layers) { return timed(allreduce("ring", 8.0), 4, 100, layers).run().record.notes; };
  REQUIRE(notes(1).size() == 1);
  CHECK(notes(1).front().find("one layer") != std::string::npos);
  CHECK(notes(2).empty());
  CHECK(timed(ring_allreduce(), 4, 100, 1).run().record.notes.empty());  // nobody has asked for buckets
}

}  // namespace data_parallel_test
