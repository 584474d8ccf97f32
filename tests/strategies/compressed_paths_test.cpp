// Compression on the paths through servers, masters and averages.
#include <algorithm>

#include "strategies/compressed.h"

namespace compressed_paths_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::ParameterServer;

namespace {

constexpr std::int64_t d = 6;

struct Path {
  std::string name;
  std::function<training::Program(const strategies::Compression&)> program;
};

template <class Strategy, class Change>
Path path(const std::string& name, Change change) {
  return {name, [change](const strategies::Compression& compression) {
            auto strategy = around_a_ring<Strategy>();
            change(*strategy);
            strategy->compression = compression;
            return strategies::program(strategy);
          }};
}

std::vector<Path> synchronous_paths() {
  using strategies::BytePs;
  using strategies::FederatedAveraging;
  using strategies::LocalSgd;
  using strategies::MapReduce;
  return {path<ParameterServer>("bsp", [](auto&) {}),
          path<ParameterServer>("bsp, three shards", [](auto& ps) { ps.shards = 3; }),
          path<ParameterServer>("bsp, hashed shards",
                                [](auto& ps) {
                                  ps.shards = 2;
                                  ps.dealt_by = training::Sharding::hash;
                                }),
          path<MapReduce>("mapreduce", [](auto&) {}),
          path<MapReduce>("mapreduce, two reducers", [](auto& mr) { mr.reducers = 2; }),
          path<MapReduce>("mapreduce, splits", [](auto& mr) { mr.splits = 2; }),
          path<strategies::DataParallel>("data_parallel", [](auto&) {}),
          path<BytePs>("byteps", [](auto& byteps) { byteps.partitions = 1; }),
          path<BytePs>("byteps, a spare host",
                       [](auto& byteps) {
                         byteps.spare_hosts = 1;
                         byteps.partitions = 2;
                       }),
          path<LocalSgd>("local_sgd", [](auto& local) { local.local_steps = 3; }),
          path<LocalSgd>("local_sgd, slow momentum",
                         [](auto& local) {
                           local.local_steps = 3;
                           local.slow_momentum = 0.5;
                         }),
          path<FederatedAveraging>("federated_averaging", [](auto&) {})};
}

std::vector<Path> asynchronous_paths() {
  const auto asp = [](auto& ps) { ps.consistency = Consistency::asp; };
  return {path<ParameterServer>("asp", asp),
          path<ParameterServer>("asp, two shards",
                                [](auto& ps) {
                                  ps.consistency = Consistency::asp;
                                  ps.shards = 2;
                                }),
          path<ParameterServer>("ssp",
                                [](auto& ps) {
                                  ps.consistency = Consistency::ssp;
                                  ps.shards = 2;
                                }),
          path<ParameterServer>("backup worker", [](auto& ps) { ps.backup_workers = 1; }),
          path<ParameterServer>("backup worker, cancelled",
                                [](auto& ps) {
                                  ps.backup_workers = 1;
                                  ps.when_late = strategies::Late::cancel;
                                }),
          path<ParameterServer>("K-batch-sync", [](auto& ps) { ps.k_batch = 2; }),
          path<ParameterServer>("K-batch-async", [](auto& ps) {
            ps.consistency = Consistency::asp;
            ps.k_batch = 2;
          })};
}

Trial trial_of(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 4, .rows = 48, .features = d};
  trial.stop.steps = 30;
  trial.cluster.charge_reductions = false;  // so that equal bytes take equal times, and ranks come in one order
  return trial;
}

std::vector<double> last_of(const training::Program& program) {
  const Outcome outcome = trial_of(program).run();
  REQUIRE(outcome.record.error.empty());
  return outcome.evaluated.back();
}

strategies::Compression compression(std::string_view kind, Compressor::Options options = {}) {
  return Compressor(kind, options).slot();
}

}  // namespace

TEST_CASE("on every path a compressor that leaves nothing out is none") {
  for (const Path& path : synchronous_paths()) {
    const std::vector<double> plain = last_of(path.program(strategies::no_compression()));
    for (const Exact& exact : exact_compressors(d)) {
      CAPTURE(path.name, exact.name);
      CHECK(relative_distance(last_of(path.program(exact.compression.slot())), plain) <= std::max(exact.within, 1e-12));
    }
  }
  for (const Path& path : asynchronous_paths()) {
    CAPTURE(path.name);
    const std::vector<double> plain = last_of(path.program(strategies::no_compression()));
    CHECK(last_of(path.program(compression("top_k", {.k = d}))) == plain);
    CHECK(last_of(path.program(compression("random_k", {.k = d}))) == plain);
  }
}

TEST_CASE("on every path every compressor trains") {
  for (const auto& paths : {synchronous_paths(), asynchronous_paths()})
    for (const Path& path : paths)
      for (const auto& entry : training::compressors().entries()) {
        CAPTURE(path.name, entry.about.kind);
        Trial trial = trial_of(path.program(compression(entry.about.kind)));
        if (entry.about.kind == "random_k") trial.training.learning_rate *= 0.1;  // one of six numbers, times six
        const Outcome outcome = trial.run();
        CHECK(outcome.record.error.empty());
        CHECK(outcome.record.status == record::Status::stopped);
        CHECK(*outcome.record.final_loss < *outcome.record.curve.front().loss);
      }
}

TEST_CASE("a parameter server in float16 takes a quarter of the time on the wire") {
  constexpr int P = 4;
  constexpr std::int64_t n = 4000;
  const auto step_s = [](std::string_view kind, bool charged) {
    auto strategy = std::make_shared<ParameterServer>();
    strategy->compression = compression(kind);
    strategy->parameter_compression = compression(kind);
    Trial trial{.program = strategies::program(strategy), .workers = P, .rows = 16, .features = n, .flops_a_row = 0.0};
    trial.stop.steps = 10;
    trial.training.numbers = false;
    trial.cluster.charge_reductions = charged;
    return trial.run().record.simulated_s / 10.0;
  };
  // alpha + P M beta each way; the server adds P n numbers and updates by 2 n.
  const double M = 8.0 * n;
  CHECK(step_s("none", false) == Approx(2 * (alpha + P * M / B)).epsilon(1e-9));
  CHECK(step_s("float16", false) == Approx(2 * (alpha + P * M / 4 / B)).epsilon(1e-9));
  // Parameters encoded once and decoded by each worker at once; gradients encoded at once, P of them decoded in turn.
  const double codes = (1.0 + 1.0 + 1.0 + P) * n / speed;
  CHECK(step_s("float16", true) == Approx(2 * (alpha + P * M / 4 / B) + (P + 2.0) * n / speed + codes).epsilon(1e-9));
}

TEST_CASE("who receives sparse codes adds as many numbers as they have") {
  constexpr int P = 4;
  constexpr std::int64_t n = 4000;
  const auto step_s = [](auto strategy) {
    strategy.compression = compression("top_k");
    Trial trial{.program = strategies::program(std::make_shared<decltype(strategy)>(strategy)),
                .workers = P,
                .rows = 16,
                .features = n,
                .flops_a_row = 0.0};
    trial.stop.steps = 10;
    trial.training.numbers = false;
    return trial.run().record.simulated_s / 10.0;
  };
  // alpha + P m beta there, alpha + P M beta back; 3 n to encode, P k to add, 2 n to update.
  const double M = 8.0 * n, k = n / 100.0, m = 8.0 * k;
  const double step = 2 * alpha + P * (m + M) / B + (5.0 * n + P * k) / speed;
  CHECK(step_s(ParameterServer()) == Approx(step).epsilon(1e-9));
  strategies::MapReduce flat;
  flat.broadcast.choose("flat");
  dynamic_cast<strategies::MemoryStorage&>(*flat.storage.object()).bandwidth_bytes_per_s = {};
  CHECK(step_s(flat) == Approx(step).epsilon(1e-9));
}

TEST_CASE("a worker that is alone is the sequential algorithm, but where it sends codes to a server") {
  Trial alone = trial_of(single());
  alone.workers = 1;
  const std::vector<double> sequential = alone.run().evaluated.back();
  for (const Path& path : synchronous_paths())
    for (const char* kind : {"float16", "sign", "top_k"}) {
      CAPTURE(path.name, kind);
      const auto last = [&](const strategies::Compression& chosen) {
        Trial trial = trial_of(path.program(chosen));
        trial.workers = 1;
        return trial.run().evaluated.back();
      };
      const std::vector<double> plain = last(strategies::no_compression());
      CHECK((last(compression(kind)) == plain) == (path.program(compression(kind)).traits(1).servers == 0));
      if (path.name.find("local_sgd") == std::string::npos && path.name != "federated_averaging")
        CHECK(plain == sequential);
    }
}

TEST_CASE("messages count the bytes of their codes") {
  const auto bytes = [](const auto& change) {
    auto strategy = std::make_shared<ParameterServer>();
    change(*strategy);
    return trial_of(strategies::program(strategy)).run().record.bytes;
  };
  // 30 steps of 4 pushes and 4 answers; the last answers, to the state that ends the training, are never sent.
  const std::int64_t plain = bytes([](auto&) {});
  const std::int64_t pushes = bytes([](auto& ps) { ps.compression = compression("top_k", {.k = 2}); });
  const std::int64_t answers = bytes([](auto& ps) { ps.parameter_compression = compression("float16"); });
  CHECK(plain == 30 * 4 * (8 * d + 8 * d));
  CHECK(pushes == 30 * 4 * (8 * d + 2 * 8));
  CHECK(answers == 30 * 4 * (2 * d + 8 * d));
}

TEST_CASE("parameters that travel as they are rounded train as well as they are exact") {
  const auto trained = [](std::string_view kind) {
    auto strategy = std::make_shared<ParameterServer>();
    strategy->parameter_compression = compression(kind);
    return last_of(strategies::program(strategy));
  };
  const std::vector<double> exact = trained("none");
  CHECK(trained("float64") == exact);
  CHECK(relative_distance(trained("float32"), exact) < 1e-6);
  CHECK(relative_distance(trained("float16"), exact) < 1e-2);
  CHECK(relative_distance(trained("float16"), exact) > 1e-6);
  CHECK(relative_distance(trained("int8"), exact) < 0.1);
}

TEST_CASE("elastic averaging exchanges rounded replicas") {
  const auto trained = [](std::string_view kind, bool together) {
    auto strategy = std::make_shared<strategies::Easgd>();
    strategy->period = 2;
    strategy->together = together;
    strategy->parameter_compression = compression(kind);
    return trial_of(strategies::program(strategy)).run();
  };
  for (const bool together : {false, true}) {
    const Outcome exact = trained("none", together);
    const Outcome rounded = trained("float16", together);
    CHECK(trained("float64", together).evaluated == exact.evaluated);
    CHECK(relative_distance(rounded.evaluated.back(), exact.evaluated.back()) < 0.05);
    CHECK(rounded.record.bytes * 4 == exact.record.bytes);
  }
}

TEST_CASE("services answer with codes of the sums, with a memory of their own") {
  const auto trained = [](const strategies::Compression& answers) {
    auto strategy = std::make_shared<strategies::BytePs>();
    strategy->partitions = 1;
    strategy->answer_compression = answers;
    Trial trial = trial_of(strategies::program(strategy));
    trial.stop.steps = 400;
    trial.training.learning_rate = 1e-4;
    return trial.run();
  };
  const Outcome exact = trained(strategies::no_compression());
  const Outcome with_memory = trained(compression("sign", {.error_feedback = true}));
  CHECK(relative_distance(with_memory.evaluated.back(), exact.evaluated.back()) < 0.05);
  CHECK(with_memory.evaluated.back() != exact.evaluated.back());
  // Four services sum 1, 2, 1 and 2 numbers for three workers on other hosts: 8 d each way; signs and a size are 5
  // bytes.
  CHECK(exact.record.bytes == 400 * 3 * (8 * d + 8 * d));
  CHECK(with_memory.record.bytes == 400 * 3 * (8 * d + 4 * 5));
}

}  // namespace compressed_paths_test
