// Parameter servers to which layers are pushed as the backward pass gets them: recurrences of the times, and the
// numbers.
#include <algorithm>
#include <functional>
#include <vector>

#include "strategies/compressed.h"
#include "strategies/programs.h"
#include "strategies/timed_layers.h"

namespace server_buckets_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::ParameterServer;
using strategies::Placement;
using strategies::Pulls;

namespace {

constexpr int steps = 3;

training::Program program(ParameterServer options) {
  return strategies::program(std::make_shared<ParameterServer>(std::move(options)));
}

ParameterServer in_buckets(double bytes, std::int64_t servers, std::int64_t credits) {
  ParameterServer options;
  options.bucket_bytes = bytes;
  options.shards = servers;
  options.credits = credits;
  return options;
}

Trial timed(ParameterServer options, int workers, std::int64_t features, int layers) {
  return timed_layers(program(std::move(options)), workers, features, layers, steps);
}

double seconds(const Trial& trial) {
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  return record.simulated_s;
}

/// The time of so many steps of P workers and s servers on hosts of their own, with L equal layers in buckets of k.
double steps_s(const Trial& trial, std::int64_t s, std::size_t L, std::size_t k) {
  const double P = trial.workers, m = trial.message_bytes() * static_cast<double>(k) / static_cast<double>(L);
  const double message_s = alpha + std::max(1.0, P / static_cast<double>(s)) * m / B;
  const double t = trial.gradient_s() / 2.0 / static_cast<double>(L);  // of a layer, forwards or backwards
  std::vector<double> answers = sent(std::vector<double>(L / k, 0.0), message_s);
  double end = 0.0;
  for (int step = 0; step < steps; ++step) {
    double now = 0.0;
    for (std::size_t layer = 0; layer < L; ++layer) now = std::max(now, answers[layer / k]) + t;
    std::vector<double> ready(L / k);
    for (std::size_t b = L / k; b-- > 0;) ready[b] = now += static_cast<double>(k) * t;
    const std::vector<double> pushed = sent(ready, message_s);
    end = std::ranges::max(pushed);
    answers = sent(pushed, message_s);
  }
  return end;
}

}  // namespace

TEST_CASE("buckets of one credit are pushed and pulled one after the other, the first layers' first") {
  constexpr std::size_t layers = 8;
  for (const int P : {1, 2, 5})
    for (const std::int64_t s : {1, 2, 3})
      for (const std::int64_t d : {8 * 3 * 20, 8 * 3 * 5'000, 8 * 3 * 200'000})
        for (const std::size_t k : {1, 2, 4, 8}) {
          CAPTURE(P, s, d, k);
          const double bucket = 8.0 * static_cast<double>(d) * static_cast<double>(k) / layers;
          const Trial trial = timed(in_buckets(bucket, s, 1), P, d, layers);
          const record::Record record = trial.run().record;
          REQUIRE(record.error.empty());
          CHECK(record.simulated_s == Approx(steps_s(trial, s, layers, k)).epsilon(1e-9));
          // The parameters of the last update are sent, too, as far as the run's end lets them.
          CHECK(record.messages >= steps * P * s * 2 * static_cast<std::int64_t>(layers / k));
        }
}

// Y. Peng et al., "A Generic Communication Scheduler for Distributed DNN Training Acceleration", SOSP 2019: a partition
// is answered while the next one is pushed.
TEST_CASE("a layer that is split is answered piece by piece while the rest of it is pushed") {
  for (const int P : {1, 4})
    for (const std::int64_t s : {1, 2})
      for (const std::size_t pieces : {1, 2, 5, 20}) {
        CAPTURE(P, s, pieces);
        const std::int64_t d = 200'000;
        ParameterServer options = in_buckets(8.0 * static_cast<double>(d) / static_cast<double>(pieces), s, 1);
        options.split_layers = true;
        const Trial trial = timed(options, P, d, 1);
        const double piece = trial.message_bytes() / static_cast<double>(pieces);
        const double message_s = alpha + std::max(1.0, P / static_cast<double>(s)) * piece / B;
        std::vector<double> answers = sent(std::vector<double>(pieces, 0.0), message_s);
        double end = 0.0;
        for (int step = 0; step < steps; ++step) {
          const std::vector<double> ready(pieces, std::ranges::max(answers) + trial.gradient_s());
          const std::vector<double> pushed = sent(ready, message_s);
          end = std::ranges::max(pushed);
          answers = sent(pushed, message_s);
        }
        CHECK(seconds(trial) == Approx(end).epsilon(1e-9));
      }
}

TEST_CASE("pieces of a split layer are at most of the bucket's size, layers that are small travel together") {
  const std::vector<training::ModelUnit> units{
      {.first = 0, .count = 10}, {.first = 10, .count = 95}, {.first = 105, .count = 3}, {.first = 108, .count = 4}};
  const strategies::UnitBuckets whole(units, 320.0, 8.0, false), split(units, 320.0, 8.0, true);
  REQUIRE(whole.count() == 2);  // 0 .. 9, and 10 .. 111, of which 40 numbers would do
  REQUIRE(split.count() == 4);
  for (std::size_t b = 1; b < split.count(); ++b) CHECK(split[b].count == 34);
  const auto run = [](const strategies::UnitBuckets::Run& bucket_run) {
    return std::pair(bucket_run.first, bucket_run.end);
  };
  CHECK(run(split.of_unit(0)) == std::pair<std::size_t, std::size_t>(0, 1));
  CHECK(run(split.of_unit(1)) == std::pair<std::size_t, std::size_t>(1, 4));
  CHECK(run(split.of_unit(3)) == std::pair<std::size_t, std::size_t>(3, 4));
  CHECK(run(split.completed_by(1)) == std::pair<std::size_t, std::size_t>(1, 4));
  CHECK(run(split.completed_by(2)) == std::pair<std::size_t, std::size_t>(0, 0));
  CHECK(run(split.completed_by(0)) == std::pair<std::size_t, std::size_t>(0, 1));
}

TEST_CASE("pulled at once, parameters wait for the last bucket, and the forward pass for all of them") {
  constexpr std::size_t layers = 4;
  for (const std::int64_t s : {1, 3}) {
    const std::int64_t d = 4 * 3 * 30'000;
    ParameterServer options = in_buckets(8.0 * static_cast<double>(d) / layers, s, 1);
    options.pull = Pulls::at_once;
    const Trial trial = timed(options, 3, d, layers);
    const double M = trial.message_bytes(), share = std::max(1.0, 3.0 / static_cast<double>(s));
    const double t = trial.gradient_s() / 2.0;
    std::vector<double> ready(layers);
    for (std::size_t b = layers; b-- > 0;) ready[b] = t + t * static_cast<double>(layers - b) / layers;
    const double pushed = std::ranges::max(sent(ready, alpha + share * M / layers / B));
    CHECK(seconds(trial) == Approx(steps * (alpha + share * M / B + pushed)).epsilon(1e-9));
  }
}

TEST_CASE("with credits for all buckets, pushes take one latency") {
  constexpr std::size_t layers = 6;
  for (const std::int64_t credits : {1, 2, 3, 6, 100}) {
    const std::int64_t d = 6 * 10'000;
    ParameterServer options = in_buckets(8.0 * static_cast<double>(d) / layers, 1, credits);
    options.pull = Pulls::at_once;
    Trial trial = timed(options, 2, d, layers);
    trial.flops_a_row = 0.0;
    const double batches =
        static_cast<double>((layers + static_cast<std::size_t>(credits) - 1) / static_cast<std::size_t>(credits));
    const double M = 2.0 * trial.message_bytes() / B;
    CAPTURE(credits);
    CHECK(seconds(trial) == Approx(steps * (alpha + M + batches * alpha + M)).epsilon(1e-9));
  }
}

namespace {

struct Way {
  const char* name;
  std::function<void(ParameterServer&)> set;
};

const std::vector<Way> ways{{"bsp", [](ParameterServer&) {}},
                            {"bsp, three servers", [](ParameterServer& options) { options.shards = 3; }},
                            {"bsp, colocated",
                             [](ParameterServer& options) {
                               options.shards = 3;
                               options.placement = Placement::colocated;
                             }},
                            {"asp", [](ParameterServer& options) { options.consistency = Consistency::asp; }},
                            {"asp in batches of two",
                             [](ParameterServer& options) {
                               options.consistency = Consistency::asp;
                               options.k_batch = 2;
                             }},
                            {"asp, delays compensated",
                             [](ParameterServer& options) {
                               options.consistency = Consistency::asp;
                               options.delay_compensation = 0.1;
                             }},
                            {"ssp",
                             [](ParameterServer& options) {
                               options.consistency = Consistency::ssp;
                               options.part = strategies::Part::mean;
                             }},
                            {"ssp without a lead",
                             [](ParameterServer& options) {
                               options.consistency = Consistency::ssp;
                               options.staleness_bound = 0;
                               options.part = strategies::Part::mean;
                             }},
                            {"backup workers", [](ParameterServer& options) { options.backup_workers = 1; }},
                            {"float32 both ways", [](ParameterServer& options) {
                               options.compression.choose("float32");
                               options.parameter_compression.choose("float32");
                             }}};

Trial small(const ParameterServer& options) {
  Trial trial{.program = program(options), .workers = 4, .rows = 48, .features = 9};
  trial.layers = 3;
  trial.batch = 24;
  trial.flops_a_row = 3e4;
  trial.training.optimizer.choose("adam");
  trial.training.learning_rate = 0.01;
  trial.cluster.relative_speeds = {1.0, 0.9, 0.8, 1.1};
  trial.stop.steps = 20;
  return trial;
}

}  // namespace

TEST_CASE("one bucket is the whole gradient: equal times and equal numbers under every consistency") {
  for (const Way& way : ways)
    for (const Pulls pull : {Pulls::by_layer, Pulls::at_once}) {
      CAPTURE(way.name, pull == Pulls::at_once);
      ParameterServer options;
      way.set(options);
      const Outcome whole = small(options).run();
      options.bucket_bytes = 1e9;
      options.pull = pull;
      const Outcome bucket = small(options).run();
      REQUIRE(whole.record.error.empty());
      REQUIRE(bucket.record.error.empty());
      CHECK(bucket.evaluated == whole.evaluated);
      if (pull == Pulls::by_layer && options.consistency != Consistency::asp && options.backup_workers == 0) {
        // In lockstep the last update is encoded and answered before the training looks at it.
        CHECK(bucket.record.bytes >= whole.record.bytes);
        CHECK(bucket.record.simulated_s == Approx(whole.record.simulated_s).epsilon(2e-5));
      } else {
        // Whether answers of the last instant have begun is the order of actors.
        CHECK(std::abs(bucket.record.bytes - whole.record.bytes) <= 3 * 9 * 8);
        CHECK(bucket.record.simulated_s == Approx(whole.record.simulated_s).epsilon(1e-12));
      }
    }
}

TEST_CASE("in lockstep, buckets give the numbers of the whole gradient, bit for bit, in less time") {
  for (const Way& way : ways) {
    ParameterServer options;
    way.set(options);
    if (options.consistency == Consistency::asp || options.backup_workers > 0 ||
        (options.consistency == Consistency::ssp && !options.staleness_bound))
      continue;
    CAPTURE(way.name);
    const auto trial = [](const ParameterServer& server_options) {
      Trial one = small(server_options);
      one.features = 9'000;
      one.flops_a_row = 4e4;
      one.stop.steps = 5;
      return one;
    };
    const Outcome whole = trial(options).run();
    options.bucket_bytes = 1.0;
    const Outcome buckets = trial(options).run();
    REQUIRE(whole.record.error.empty());
    REQUIRE(buckets.record.error.empty());
    CHECK(buckets.evaluated == whole.evaluated);
    CHECK(buckets.record.simulated_s < 0.95 * whole.record.simulated_s);
  }
}

TEST_CASE("stale gradients in buckets train, and the age of each is that of the parameters that it read") {
  for (const Way& way : ways) {
    ParameterServer options;
    way.set(options);
    options.bucket_bytes = 1.0;
    CAPTURE(way.name);
    const Outcome outcome = small(options).run();
    REQUIRE(outcome.record.error.empty());
    const std::vector<double> losses = outcome.losses();
    CHECK(losses.back() < losses.front());
    if (options.consistency == Consistency::asp && !options.k_batch) {
      // A worker's gradient waits for those of the three others, on average, whatever the speeds.
      CHECK(outcome.record.staleness_mean > 2.0);
      CHECK(outcome.record.staleness_mean < 4.0);
    }
  }
}

TEST_CASE("a worker that pushes buckets has in memory what one has that pushes its gradient at once") {
  for (const double kept : {0.0, 100.0}) {
    const auto held = [&](std::optional<double> bucket_bytes) {
      ParameterServer options;
      options.bucket_bytes = bucket_bytes;
      Trial trial = timed(options, 2, 400, 4);
      trial.kept = kept;
      trial.stop.steps = 1;
      const record::Record record = trial.run().record;
      REQUIRE(record.error.empty());
      return record.ranks.front().memory;
    };
    CAPTURE(kept);
    const auto whole = held({});
    CHECK(whole[static_cast<std::size_t>(record::MemoryPart::parameters)] == 8.0 * 400.0);
    for (const double bytes : {1.0, 1e9}) CHECK(held(bytes) == whole);
  }
}

TEST_CASE("bucket sizes count bytes on the wire") {
  const auto messages = [](training::Wire wire, const char* compression) {
    ParameterServer options = in_buckets(8.0 * 400.0 / 4.0, 1, 4);  // a layer in float64, two in float32
    options.compression.choose(compression);
    options.pull = Pulls::at_once;
    Trial trial = timed(options, 2, 400, 4);
    trial.training.wire = wire;
    const record::Record record = trial.run().record;
    REQUIRE(record.error.empty());
    return record.messages - steps * 2;  // without the answers, one a step and worker
  };
  const std::int64_t layers = messages(training::Wire::as_precision, "none");
  CHECK(messages(training::Wire::float32, "none") * 2 == layers);
  CHECK(messages(training::Wire::as_precision, "float32") * 2 == layers);
  CHECK(messages(training::Wire::bfloat16, "none") * 4 == layers);
}

}  // namespace server_buckets_test
