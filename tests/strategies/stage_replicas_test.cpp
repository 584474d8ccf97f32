// Stages with unlike numbers of replicas, as PipeDream has them: which micro-batch goes where, what it sees, how long
// it takes, how much is sent and held.
#include "strategies/stage_replicas.h"

namespace stage_replicas_test {

using namespace simgrad;
using namespace simgrad::tests;
using namespace simgrad::tests::stage_replicas;

TEST_CASE("stages of so many ranks have consecutive ranks, and a micro-batch goes through one of each") {
  const training::Mesh mesh = training::Mesh::of_stages({3, 1, 2});
  CHECK(mesh.ranks() == 6);
  CHECK(mesh.shares() == 6);
  CHECK(mesh.parts() == 3);
  const std::vector<std::pair<int, int>> places{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {2, 0}, {2, 1}};
  const std::vector<int> updates{2, 2, 2, 6, 3, 3};
  for (int rank = 0; rank < 6; ++rank) {
    CAPTURE(rank);
    const training::MeshPlace place = mesh.place(rank);
    const auto& [stage, replica] = places[static_cast<std::size_t>(rank)];
    CHECK(place[training::Dimension::pipeline] == stage);
    CHECK(place[training::Dimension::data] == replica);
    CHECK(mesh.rank(place) == rank);
    CHECK(mesh.updates_a_step(rank) == updates[static_cast<std::size_t>(rank)]);
  }
  CHECK(mesh.group(1, training::Dimension::data) == std::vector<int>{0, 1, 2});
  CHECK(mesh.group(3, training::Dimension::data) == std::vector<int>{3});
  CHECK(mesh.group(5, training::Dimension::pipeline) == std::vector<int>{1, 3, 5});
  // Rank 1 has micro-batches 1, 4, 7, ..., and 7 goes to ranks 1, 3 and 5.
  CHECK(mesh.micro_batch(1, 2) == 7);
  CHECK(mesh.rank_with(0, 7) == 1);
  CHECK(mesh.rank_with(1, 7) == 3);
  CHECK(mesh.rank_with(2, 7) == 5);
}

TEST_CASE("as many replicas in each stage are data, bit for bit: parameters, times, bytes, memory") {
  for (const int d : {1, 2, 3})
    for (const char* network : {"star", "tcp", "hosts of devices"})
      for (const auto precision : {training::Precision::float64, training::Precision::bfloat16}) {
        CAPTURE(d, network, precision);
        MeshTrial trial = perceptron_trial();
        trial.steps = 4;
        trial.training.precision = precision;
        trial.training.optimizer.choose("adam");
        put_network(trial.cluster, network);
        const MeshTrial stages = on_stages(trial, Numbers(3, d), {2, 2, 1});
        const Outcome unlike = stages.run(), like = on_data(stages, d).run();
        REQUIRE(unlike.record.error.empty());
        CHECK(unlike.evaluated == like.evaluated);
        CHECK(unlike.record.simulated_s == like.record.simulated_s);
        CHECK(unlike.record.bytes == like.record.bytes);
        for (std::size_t rank = 0; rank < like.record.ranks.size(); ++rank) {
          CHECK(unlike.record.ranks[rank].memory_bytes == like.record.ranks[rank].memory_bytes);
          CHECK(unlike.record.ranks[rank].mesh.data == like.record.ranks[rank].mesh.data);
          CHECK(unlike.record.ranks[rank].bytes_sent == like.record.ranks[rank].bytes_sent);
        }
      }
}

TEST_CASE("stages with unlike replicas train as PipeDream's recursion says, to 1e-9") {
  const std::vector<Numbers> all{{3, 1}, {1, 3}, {2, 3}, {4, 2}, {2, 1, 1}, {3, 2, 1}, {1, 2, 3}, {2, 1, 4}, {1, 1, 1}};
  for (const Numbers& replicas : all)
    for (const char* optimizer : {"sgd", "adam"})
      for (const double bucket_bytes : {0.0, 400.0}) {
        CAPTURE(replicas, optimizer, bucket_bytes);
        const Numbers units = replicas.size() == 2 ? Numbers{3, 2} : Numbers{2, 2, 1};
        MeshTrial trial = on_stages(perceptron_trial(), replicas, units);
        trial.steps = 5;
        trial.training.learning_rate = 0.05;
        trial.training.optimizer.choose(optimizer);
        if (bucket_bytes > 0.0) {
          auto strategy = around_a_ring<strategies::Allreduce>();
          strategy->bucket_bytes = bucket_bytes;
          trial.strategy = strategy;
        }
        const Outcome outcome = trial.run();
        REQUIRE(outcome.record.error.empty());
        CHECK(outcome.record.steps == trial.steps);
        CHECK(outcome.record.samples == trial.steps * trial.batch);
        const std::vector<Numbers> w =
            by_recursion(trial, replicas, firsts_of(trial, units), outcome.evaluated.front());
        REQUIRE(outcome.evaluated.size() == w.size());
        for (std::size_t k = 0; k < w.size(); ++k) CHECK(relative_distance(outcome.evaluated[k], w[k]) <= 1e-9);
        // The first stage has ceil(R / r) micro-batches under way, which is the most of all where it has fewest ranks.
        double most = 0.0;
        for (std::size_t s = 0; s < replicas.size(); ++s) {
          const double R = std::accumulate(replicas.begin() + static_cast<long>(s), replicas.end(), 0.0);
          most = std::max(most, std::ceil(R / replicas[s]) - 1.0);
        }
        CHECK(outcome.record.staleness_max == most);
      }
}

TEST_CASE("on other networks, in other precisions and without numbers unlike replicas train and take the same") {
  for (const Numbers& replicas : {Numbers{3, 1}, Numbers{2, 3, 1}})
    for (const char* network : {"star", "tcp", "hosts of devices", "tcp on hosts of devices"}) {
      CAPTURE(replicas, network);
      MeshTrial trial = on_stages(transformer_trial(3, false), replicas);
      trial.steps = 4;
      trial.cluster.collectives = cluster::Collectives::messages;  // hops share links with sums
      const Outcome star = trial.run();
      put_network(trial.cluster, network);
      const Outcome outcome = trial.run();
      REQUIRE(outcome.record.error.empty());
      // The network decides when, and the schedule what is computed.
      CHECK(outcome.evaluated == star.evaluated);
      for (const auto precision : {training::Precision::bfloat16, training::Precision::float32}) {
        MeshTrial rounded = trial;
        rounded.training.precision = precision;
        const Outcome rounded_run = rounded.run();
        REQUIRE(rounded_run.record.error.empty());
        const double distance = relative_distance(rounded_run.final_parameters(), outcome.final_parameters());
        CHECK(distance > 0.0);
        CHECK(distance < (precision == training::Precision::bfloat16 ? 2e-2 : 1e-5));
        CHECK(rounded_run.record.bytes == outcome.record.bytes / (precision == training::Precision::bfloat16 ? 4 : 2));
        rounded.training.numbers = false;
        rounded.data = {};
        CHECK(rounded.run().record.simulated_s == Approx(rounded_run.record.simulated_s).epsilon(1e-12));
      }
      MeshTrial alone = trial;
      alone.training.numbers = false;
      alone.data = {};
      const Outcome times = alone.run();
      CHECK(times.record.simulated_s == Approx(outcome.record.simulated_s).epsilon(1e-12));
      CHECK(times.record.bytes == outcome.record.bytes);
      CHECK(peak_memory(times.record) == peak_memory(outcome.record));
    }
}

TEST_CASE("behind several replicas of the first stage a single rank is always busy, or they are") {
  struct Stages {
    Numbers units, replicas;
  };
  for (const auto& [units, replicas] : std::vector<Stages>{
           {{3, 1}, {3, 1}}, {{2, 1}, {3, 1}}, {{5, 1}, {3, 1}}, {{1, 2}, {2, 1}}, {{15, 1}, {15, 1}}}) {
    CAPTURE(units, replicas);
    // A layer takes F + B + W = 3 s a row, and a step has a row for each replica.
    const double most_s = 3.0 * std::max(units[0], units[1] * replicas[0]);
    const auto steps_s = [&](std::int64_t steps) {
      const record::Record record = timed(units, replicas, steps).run().record;
      REQUIRE(record.error.empty());
      return record.simulated_s;
    };
    CHECK(steps_s(12) - steps_s(6) == Approx(6 * most_s).epsilon(1e-4));
  }
}

TEST_CASE("the passes of unlike replicas end when those that they wait for do") {
  const std::vector<std::pair<Numbers, Numbers>> all{{{3, 1}, {3, 1}},
                                                     {{1, 3}, {1, 3}},
                                                     {{2, 3}, {2, 3}},
                                                     {{4, 3}, {2, 3}},
                                                     {{9, 5, 1, 1}, {9, 5, 1, 1}},
                                                     {{4, 2, 1}, {4, 2, 1}},
                                                     {{1, 4, 2}, {1, 4, 2}},
                                                     {{2, 1, 2}, {3, 1, 2}},
                                                     {{1, 1, 1}, {2, 2, 2}}};
  for (const auto& [units, replicas] : all)
    for (const std::int64_t steps : {1, 3})
      for (const double hop_s : {1e-6, 0.4, 1.7}) {
        CAPTURE(units, replicas, steps, hop_s);
        const record::Record record = timed(units, replicas, steps, hop_s).run().record;
        REQUIRE(record.error.empty());
        CHECK(record.simulated_s == Approx(end_of_passes(units, replicas, steps, hop_s)).epsilon(1e-6));
      }
}

TEST_CASE("the first micro-batches go through the stages, and the last ones are waited for") {
  // [2, 1], a layer each: ranks 0 and 1 end their two forward passes at F and 2 F, rank 2 works on micro-batches 0, 1,
  // 2, 3 from F on without a pause, 4 (F + B), and one of ranks 0 and 1 has the backward pass of 3 behind that.
  const double forward_s = 1.0, back_s = 2.0;
  const record::Record record = timed({1, 1}, {2, 1}, 2).run().record;
  REQUIRE(record.error.empty());
  CHECK(record.simulated_s == Approx(forward_s + 4 * (forward_s + back_s) + back_s).epsilon(1e-5));
}

TEST_CASE("activations cross each boundary once a micro-batch and way, and gradients are summed in every round") {
  for (const Numbers& replicas : {Numbers{3, 1}, Numbers{1, 3}, Numbers{2, 3}, Numbers{3, 3}}) {
    CAPTURE(replicas);
    MeshTrial trial = on_stages(perceptron_trial(), replicas, {3, 2});
    trial.steps = 4;
    const record::Record record = trial.run().record;
    REQUIRE(record.error.empty());
    const std::vector<std::size_t> firsts = firsts_of(trial, {3, 2});
    const double width = 8;  // hidden = {16, 12, 8, 8}: behind the third layer
    const double hops = 2.0 * width * static_cast<double>(trial.batch);
    double sums = 0.0;
    for (std::size_t s = 0; s < 2; ++s) {
      const auto n = static_cast<double>(firsts[s + 1] - firsts[s]);
      sums += static_cast<double>(lcm(replicas)) / replicas[s] * 2.0 * (replicas[s] - 1.0) * n;
    }
    CHECK(static_cast<double>(record.bytes) == Approx(8.0 * static_cast<double>(trial.steps) * (hops + sums)));
    double along_pipeline = 0.0, along_data = 0.0;
    for (const record::DimensionUse& use : record.dimensions) {
      if (use.dimension == "pipeline") along_pipeline = std::max(along_pipeline, static_cast<double>(use.bytes));
      if (use.dimension == "data") along_data = std::max(along_data, static_cast<double>(use.bytes));
    }
    CHECK(along_data / along_pipeline == Approx(sums / hops));
  }
}

TEST_CASE("the formula of a stage's memory is what its ranks hold, with as many versions as micro-batches under way") {
  for (const Numbers& replicas : {Numbers{3, 1}, Numbers{1, 3}, Numbers{3, 2, 1}, Numbers{1, 2, 2}, Numbers{2, 2}})
    for (const char* optimizer : {"sgd", "adam"}) {
      CAPTURE(replicas, optimizer);
      MeshTrial trial = on_stages(transformer_trial(3, false), replicas);
      trial.training.optimizer.choose(optimizer);
      trial.training.numbers = false;
      trial.data = {};
      trial.steps = 8;
      const record::Record record = trial.run().record;
      REQUIRE(record.error.empty());
      const auto on_mesh =
          std::dynamic_pointer_cast<const strategies::OnMesh>(strategies::on_mesh(trial.strategy, trial.parallel));
      const std::vector<record::MemoryParts> needed = on_mesh->memory_of_stages(memory_terms(trial));
      std::vector<double> held(replicas.size());
      for (const record::RankUse& use : record.ranks) {
        double& most_held = held[static_cast<std::size_t>(*use.mesh.pipeline)];
        most_held = std::max(most_held, use.memory_bytes.value_or(0.0));
      }
      for (std::size_t s = 0; s < replicas.size(); ++s) CHECK(held[s] == Approx(needed[s].sum()).epsilon(1e-9));
    }
}

TEST_CASE("rows are read by the first stage's ranks, each its own") {
  MeshTrial trial = on_stages(perceptron_trial(), {2, 3}, {3, 2});
  trial.steps = 2;
  trial.training.input.from = training::InputFrom::local;
  trial.training.input.bandwidth_bytes_per_s = 48.0;  // a row a second
  trial.training.input.bytes_per_sample = 48.0;
  trial.training.input.cache = true;
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  // Each of two ranks reads 48 of 96 rows before its first pass, whichever micro-batches it has.
  CHECK(record.simulated_s == Approx(48.0).epsilon(1e-3));
}

}  // namespace stage_replicas_test
