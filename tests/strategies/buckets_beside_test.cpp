// Gradients in buckets beside the backward pass: BytePS, MapReduce, a master device and gossip. Times by recurrences,
// and the numbers of whole gradients.
#include <algorithm>
#include <functional>
#include <vector>

#include "strategies/compressed.h"
#include "strategies/programs.h"
#include "strategies/timed_layers.h"

namespace buckets_beside_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr int steps = 3;

template <class Options>
training::Program program(Options options) {
  return strategies::program(std::make_shared<Options>(std::move(options)));
}

Trial timed(training::Program program, int workers, std::int64_t features, int layers) {
  return timed_layers(std::move(program), workers, features, layers, steps);
}

record::Record recorded(const Trial& trial) {
  record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  return record;
}

/// When the messages of buckets end that go one after the other, the last layers' first; layers equally long.
double end_of_buckets(double forward_s, double backward_s, int buckets, double message_s) {
  double ready = forward_s, sent = 0.0;
  for (int b = 0; b < buckets; ++b) {
    ready += backward_s / buckets;
    sent = std::max(ready, sent) + message_s;
  }
  return sent;
}

const std::vector<std::int64_t> lengths{4 * 12 * 30, 4 * 12 * 10'000, 4 * 12 * 100'000};

}  // namespace

TEST_CASE("a gossip step in buckets exchanges each with the neighbours as the backward pass is through with it") {
  constexpr int layers = 4;
  for (const GossipUpdate update :
       {GossipUpdate::combine_then_adapt, GossipUpdate::adapt_then_combine, GossipUpdate::gradient_exchange})
    for (const std::int64_t d : lengths)
      for (const int k : {1, 2, 4}) {
        strategies::Gossip options;
        options.update = update;
        const double M = 8.0 * static_cast<double>(d);
        options.bucket_bytes = M * k / layers;
        const Trial trial = timed(program(options), 6, d, layers);
        CAPTURE(static_cast<int>(update), d, k);
        const double t = trial.gradient_s() / 2.0, message_s = alpha + 2.0 * M * k / layers / B;
        const record::Record record = recorded(trial);
        CHECK(record.simulated_s == Approx(steps * end_of_buckets(t, t, layers / k, message_s)).epsilon(1e-9));
        CHECK(record.messages == steps * 6 * 2 * layers / k);
        CHECK(static_cast<double>(record.bytes) == steps * 6 * 2 * M);
      }
}

TEST_CASE("byteps in buckets sums each as the backward pass is through with it") {
  // As many spare hosts as workers: a bucket takes alpha + m beta to push, and as long to be answered while the next
  // one is pushed.
  constexpr int layers = 4, n = 4;
  for (const std::int64_t d : lengths) {
    strategies::BytePs options;
    options.spare_hosts = n;
    const double M = 8.0 * static_cast<double>(d);
    options.bucket_bytes = M / layers;
    options.pull = strategies::Pulls::at_once;
    const Trial trial = timed(program(options), n, d, layers);
    CAPTURE(d);
    const double t = trial.gradient_s() / 2.0, message_s = alpha + M / layers / B;
    CHECK(recorded(trial).simulated_s ==
          Approx(steps * (end_of_buckets(t, t, layers, message_s) + message_s)).epsilon(1e-9));
  }
}

TEST_CASE("the next forward pass of byteps waits for a layer's sum when it comes to the layer") {
  constexpr int layers = 4, n = 4;
  for (const std::int64_t d : lengths) {
    strategies::BytePs options;
    options.spare_hosts = n;
    const double M = 8.0 * static_cast<double>(d);
    options.bucket_bytes = M / layers;
    const Trial trial = timed(program(options), n, d, layers);
    CAPTURE(d);
    const double layer_s = trial.gradient_s() / 2.0 / layers, message_s = alpha + M / layers / B;
    std::vector<double> summed(layers, 0.0);  // when a layer's sum has come, of the step before
    double now = 0.0;
    for (std::int64_t step = 0; step < steps; ++step) {
      for (std::size_t b = 0; b < layers; ++b) now = std::max(now, summed[b]) + layer_s;
      std::vector<double> ready(layers);
      for (std::size_t b = layers; b-- > 0;) ready[b] = now += layer_s;
      // A worker pushes, and a service answers, a layer at a time: of those that are ready, the first one.
      summed = sent(sent(ready, message_s), message_s);
    }
    CHECK(recorded(trial).simulated_s == Approx(*std::ranges::max_element(summed)).epsilon(1e-9));
  }
}

TEST_CASE("local_sgd in buckets averages each as the backward pass is through with it") {
  constexpr int layers = 4, P = 4;
  for (const std::int64_t d : lengths) {
    auto options = *around_a_ring<strategies::LocalSgd>();
    options.local_steps = 1;
    const double M = 8.0 * static_cast<double>(d);
    options.bucket_bytes = M / layers;
    const Trial trial = timed(program(options), P, d, layers);
    CAPTURE(d);
    const double t = trial.gradient_s() / 2.0;
    const double message_s = 2.0 * (P - 1) * alpha + 2.0 * (P - 1) / P * M / layers / B;
    CHECK(recorded(trial).simulated_s == Approx(steps * end_of_buckets(t, t, layers, message_s)).epsilon(1e-9));
  }
}

TEST_CASE("equal workers add the gradients of earlier micro-batches to a bucket's at the same time") {
  auto options = *around_a_ring<strategies::Allreduce>();
  options.bucket_bytes = 1.0;  // a layer each
  options.micro_batches = 2;
  options.no_sync = true;
  for (const int P : {2, 8}) {
    Trial trial = timed(program(options), P, 4 * 12 * 10'000, 4);
    trial.cluster.charge_reductions = true;
    Trial by_messages = trial;
    by_messages.cluster.collectives = cluster::Collectives::messages;
    CAPTURE(P);
    const record::Record together = recorded(trial), apart = recorded(by_messages);
    CHECK(together.simulated_s == Approx(apart.simulated_s).epsilon(1e-9));
    for (std::size_t rank = 0; rank < together.ranks.size(); ++rank)
      CHECK(together.ranks[rank].compute_s == Approx(apart.ranks[rank].compute_s).epsilon(1e-9));
  }
}

TEST_CASE("a master device deals out layers as the forward pass needs them, and gathers them as they are ready") {
  constexpr int layers = 4, P = 3;
  for (const std::int64_t d : lengths) {
    strategies::DataParallel options;
    const double M = 8.0 * static_cast<double>(d);
    options.bucket_bytes = M / layers;
    options.credits = 1;
    const Trial trial = timed(program(options), P, d, layers);
    CAPTURE(d);
    const double t = trial.gradient_s() / 2.0 / layers, message_s = alpha + (P - 1) * M / layers / B;
    const double rows_s = (P - 1) * 2 * (M + 8.0) / B;
    double now = 0.0;
    for (int b = 0; b < layers; ++b) now = std::max(now, rows_s + (b + 1) * message_s) + t;
    const double gathered = end_of_buckets(now, t * layers, layers, message_s);
    CHECK(recorded(trial).simulated_s == Approx(steps * gathered).epsilon(1e-9));
  }
}

namespace {

struct Way {
  const char* name;
  std::function<training::Program(std::optional<double> bucket_bytes)> program;
  bool tells_the_time = true;  ///< one bucket takes as long as the whole vector
};

template <class Options>
Way way(const char* name, std::function<void(Options&)> set, bool tells_the_time = true, bool splits = false) {
  return {name,
          [set, splits](std::optional<double> bucket_bytes) {
            Options options;
            set(options);
            options.bucket_bytes = bucket_bytes;
            if constexpr (requires { options.split_layers; }) options.split_layers = bucket_bytes && splits;
            return program(options);
          },
          tells_the_time};
}

std::vector<Way> all_ways() {
  using strategies::BytePs;
  using strategies::DataParallel;
  using strategies::Gossip;
  using strategies::MapReduce;
  using strategies::Sgp;
  return {way<BytePs>("byteps", [](BytePs& options) { options.partitions = 1; }),
          way<BytePs>("byteps, spare hosts",
                      [](BytePs& options) {
                        options.partitions = 1;
                        options.spare_hosts = 2;
                      }),
          way<MapReduce>("mapreduce", [](MapReduce&) {}),
          way<MapReduce>("mapreduce, three reducers", [](MapReduce& options) { options.reducers = 3; }),
          way<MapReduce>(
              "mapreduce in float32",
              [](MapReduce& options) {
                options.compression.choose("float32");
                options.parameter_compression.choose("float32");
              },
              false),
          // The master computes while it deals out.
          way<DataParallel>(
              "data_parallel", [](DataParallel&) {}, false),
          way<BytePs>(
              "byteps, layers split", [](BytePs& options) { options.partitions = 1; }, true, true),
          way<MapReduce>(
              "mapreduce, layers split", [](MapReduce& options) { options.reducers = 2; }, true, true),
          way<DataParallel>(
              "data_parallel, layers split", [](DataParallel&) {}, false, true),
          way<strategies::LocalSgd>("local_sgd", [](strategies::LocalSgd& options) { options.local_steps = 2; }),
          way<strategies::LocalSgd>("local_sgd, slow momentum",
                                    [](strategies::LocalSgd& options) {
                                      options.local_steps = 2;
                                      options.slow_momentum = 0.5;
                                      options.optimizer_memory = strategies::MemoryAtAverage::average;
                                    }),
          way<strategies::LocalSgd>(
              "local_sgd in int8",
              [](strategies::LocalSgd& options) {
                options.local_steps = 2;
                options.compression.choose("int8");
              },
              false),
          way<Gossip>("gossip", [](Gossip&) {}),
          way<Gossip>("gossip, adapt then combine",
                      [](Gossip& options) { options.update = GossipUpdate::adapt_then_combine; }),
          way<Gossip>("gossip of gradients", [](Gossip& options) { options.update = GossipUpdate::gradient_exchange; }),
          way<Gossip>("gossip in float32", [](Gossip& options) { options.compression.choose("float32"); }),
          way<Gossip>("gossip with one peer", [](Gossip& options) { options.one_peer = true; }),
          // Each bucket carries a weight of eight bytes.
          way<Sgp>(
              "sgp", [](Sgp&) {}, false),
          way<Sgp>(
              "sgp to all, in float32",
              [](Sgp& options) {
                options.one_peer = false;
                options.compression.choose("float32");
              },
              false)};
}

Trial small(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 4, .rows = 48, .features = 9};
  trial.layers = 3;
  trial.batch = 24;
  trial.training.optimizer.choose("adam");
  trial.training.learning_rate = 0.01;
  trial.stop.steps = 10;
  return trial;
}

}  // namespace

TEST_CASE("one bucket of byteps, mapreduce, gossip and sgp is the whole vector, in time and numbers") {
  for (const Way& way : all_ways()) {
    CAPTURE(way.name);
    const Outcome whole = small(way.program({})).run();
    const Outcome bucket = small(way.program(1e9)).run();
    REQUIRE(whole.record.error.empty());
    REQUIRE(bucket.record.error.empty());
    CHECK(bucket.evaluated == whole.evaluated);
    if (way.tells_the_time) CHECK(bucket.record.simulated_s == Approx(whole.record.simulated_s).epsilon(1e-12));
  }
}

TEST_CASE("buckets of byteps, mapreduce, a master, gossip and sgp give the numbers of whole vectors in less time") {
  for (const Way& way : all_ways()) {
    CAPTURE(way.name);
    const auto trial = [&](std::optional<double> bucket_bytes) {
      Trial one = small(way.program(bucket_bytes));
      one.features = 9'000;
      one.flops_a_row = 6e4;
      one.stop.steps = 4;
      return one;
    };
    const Outcome whole = trial({}).run();
    // A layer is a bucket, or two where it is split.
    const bool splits = std::string_view(way.name).ends_with("split");
    const Outcome buckets = trial(splits ? 8.0 * 9'000 / 6 : 1.0).run();
    REQUIRE(whole.record.error.empty());
    REQUIRE(buckets.record.error.empty());
    // Around a ring the ranks' order is another in a shorter vector, and int8 has a scale for each.
    const double within = std::string_view(way.name) == "local_sgd in int8" ? 0.05 : 1e-12;
    CHECK(relative_distance(buckets.evaluated.back(), whole.evaluated.back()) <= within);
    const bool of_local = std::string_view(way.name).starts_with("local_sgd");  // a ring's latencies, bucket by bucket
    if (!of_local) CHECK(buckets.evaluated == whole.evaluated);
    // Pieces of small layers cost more latencies than they save.
    if (!of_local && !splits) CHECK(buckets.record.simulated_s < 0.99 * whole.record.simulated_s);
  }
}

TEST_CASE("byteps layer by layer gives the numbers of sums at once, in less time, and ends with its last step") {
  for (const char* const optimizer : {"sgd", "momentum", "adam"}) {
    CAPTURE(optimizer);
    const auto outcome = [&](strategies::Pulls pull, std::int64_t credits = 1) {
      strategies::BytePs options;
      options.bucket_bytes = 1.0;
      options.pull = pull;
      options.credits = credits;
      Trial trial = small(program(options));
      trial.features = 9'000;
      trial.flops_a_row = 6e4;
      trial.training.optimizer.choose(optimizer);
      trial.stop.steps = 6;
      return trial.run();
    };
    const Outcome at_once = outcome(strategies::Pulls::at_once), by_layer = outcome(strategies::Pulls::by_layer);
    REQUIRE(by_layer.record.error.empty());
    CHECK(by_layer.evaluated == at_once.evaluated);
    CHECK(by_layer.record.steps == 6);
    CHECK(by_layer.record.simulated_s < at_once.record.simulated_s);
    CHECK(by_layer.record.bytes == at_once.record.bytes);
    const Outcome several = outcome(strategies::Pulls::by_layer, 3);
    CHECK(several.evaluated == by_layer.evaluated);
    CHECK(several.record.simulated_s != by_layer.record.simulated_s);
  }
}

TEST_CASE("the wire's format is that of compression in it, bit for bit, without the flops of a code") {
  for (const auto& [wire, kind] :
       std::vector<std::pair<training::Wire, const char*>>{{training::Wire::float32, "float32"},
                                                           {training::Wire::float16, "float16"},
                                                           {training::Wire::bfloat16, "bfloat16"}}) {
    CAPTURE(kind);
    auto options = *around_a_ring<strategies::Allreduce>();
    Trial plain = small(program(options));
    plain.training.wire = wire;
    plain.cluster.charge_reductions = false;
    options.compression.choose(kind);
    Trial coded = small(program(options));
    coded.cluster.charge_reductions = false;
    const Outcome by_wire = plain.run(), by_code = coded.run();
    REQUIRE(by_wire.record.error.empty());
    CHECK(by_wire.evaluated == by_code.evaluated);
    CHECK(by_wire.record.bytes == by_code.record.bytes);
    CHECK(by_wire.record.simulated_s == Approx(by_code.record.simulated_s).epsilon(1e-12));
  }
}

TEST_CASE("every strategy sends half the bytes in float32, and trains") {
  for (const Named& named : parallel_strategies()) {
    CAPTURE(named.name);
    const auto run = [&](training::Wire wire) {
      Trial trial = small(named.program);
      trial.training.optimizer.choose("sgd");
      trial.training.wire = wire;
      return trial.run();
    };
    const Outcome whole = run(training::Wire::as_precision), half = run(training::Wire::float32);
    REQUIRE(half.record.error.empty());
    if (whole.record.bytes == 0) continue;
    CHECK(static_cast<double>(half.record.bytes) <= 0.95 * static_cast<double>(whole.record.bytes));
    CHECK(half.losses().back() < half.losses().front());
  }
}

}  // namespace buckets_beside_test
