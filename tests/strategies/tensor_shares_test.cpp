// Tensor ranks on unlike hosts: their shares go by speed and memory, nobody waits, and the training is what it was.
#include <limits>
#include <random>

#include "strategies/mesh_trial.h"
#include "strategies/parallel/mesh_memory.h"
#include "strategies/parallel/tensor_weights.h"
#include "strategies/sharded/zero.h"

namespace tensor_shares_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Parallel;
using strategies::RankPower;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

cluster::HostClass host_class(const std::string& name, int count, double speed_flops_per_s) {
  cluster::HostClass one;
  one.name = name;
  one.count = count;
  one.speed_flops_per_s = speed_flops_per_s;
  return one;
}

/// The trial's ranks on hosts of these speeds, with shares by speed unless `equal`.
MeshTrial on(MeshTrial trial, const Parallel& parallel, const std::vector<double>& speeds, bool equal = false) {
  trial.parallel = parallel;
  trial.workers = static_cast<int>(speeds.size());
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.cluster.charge_reductions = false;
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    trial.cluster.host_classes.push_back(host_class("class" + std::to_string(rank), 1, speeds[rank]));
    if (!equal) trial.parallel.powers.push_back({.flops_per_s = speeds[rank], .memory_bytes = infinite});
  }
  return trial;
}

/// The training with uncut replicas, which add the gradients of as many micro-batches.
MeshTrial uncut(MeshTrial trial) {
  auto strategy = around_a_ring<strategies::Allreduce>();
  strategy->micro_batches = trial.parallel.micro_batch_count();
  strategy->no_sync = strategy->micro_batches > 1;
  trial.workers = static_cast<int>(trial.workers / trial.parallel.ranks_a_replica());
  trial.strategy = strategy;
  trial.parallel = {};
  return trial;
}

/// A perceptron 6 -> units -> 1 on a regression.
MeshTrial pair_trial(double units) {
  auto model = std::make_shared<models::Perceptron>();
  model->hidden = {units};
  model->l2 = 0.01;
  MeshTrial trial{.model = model, .problem = {.features = 6}, .strategy = {}};
  trial.rows = 96;
  trial.batch = 48;
  trial.data = linear_data(trial.rows, 6, 1);
  return trial;
}

Parallel tensor(std::int64_t ranks, std::int64_t micro_batches = 1) {
  Parallel parallel;
  parallel.tensor = ranks;
  parallel.micro_batches = micro_batches;
  return parallel;
}

std::vector<std::int64_t> units_of(const MeshTrial& trial) {
  const auto on_mesh = strategies::on_mesh(trial.strategy, trial.parallel);
  std::vector<std::int64_t> units;
  for (const auto& chunks : on_mesh->traits(trial.workers).cuts(memory_terms(trial)).chunks)
    units.push_back(trial.model->cut()->tensor_units(trial.problem, chunks.front()).front().count);
  return units;
}

}  // namespace

TEST_CASE("with shares by speed all tensor ranks compute equally long: units times the cost of one over speed") {
  // A row and unit: 2 x 6 flops forwards and as many for the gradient, and 2 + 4 in the second layer.
  const double flops_a_unit = 4.0 * 6 + 6;
  const MeshTrial trial = on(pair_trial(12), tensor(3), {1e9, 2e9, 3e9});
  CHECK(units_of(trial) == std::vector<std::int64_t>{2, 4, 6});
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  for (const record::RankUse& use : record.ranks)
    CHECK(use.compute_s == Approx(3 * 48 * 2 * flops_a_unit / 1e9).epsilon(1e-9));
  const record::Record equal = on(pair_trial(12), tensor(3), {1e9, 2e9, 3e9}, true).run().record;
  CHECK(equal.ranks[0].compute_s == Approx(3 * 48 * 4 * flops_a_unit / 1e9).epsilon(1e-9));
  // Both wait for the same sums of one number a row; the slowest rank's 4 units become 2.
  CHECK(equal.simulated_s - record.simulated_s == Approx(3 * 48 * 2 * flops_a_unit / 1e9).epsilon(1e-9));
}

TEST_CASE("shares that are no whole units are rounded, and a step takes what the longest of them takes") {
  const double flops_a_unit = 4.0 * 6 + 6;
  // 10 units by 1 : 3 are 2.5 and 7.5: the first of equal remainders gets the unit.
  const MeshTrial trial = on(pair_trial(10), tensor(2), {1e9, 3e9});
  CHECK(units_of(trial) == std::vector<std::int64_t>{3, 7});
  const record::Record record = trial.run().record;
  CHECK(record.ranks[0].compute_s == Approx(3 * 48 * 3 * flops_a_unit / 1e9).epsilon(1e-9));
  CHECK(record.ranks[1].compute_s == Approx(3 * 48 * 7 * flops_a_unit / 3e9).epsilon(1e-9));
}

TEST_CASE("tensor ranks with unlike shares train the parameters of uncut replicas to 1e-12") {
  std::mt19937 random(5);
  for (const int ranks : {2, 3, 4})
    for (const std::int64_t pipeline : {1, 2})
      for (const int data : {1, 2}) {
        CAPTURE(ranks, pipeline, data);
        Parallel parallel = tensor(ranks, 2);
        parallel.pipeline = pipeline;
        std::vector<double> speeds;
        for (std::int64_t rank = 0; rank < ranks * pipeline * data; ++rank)
          speeds.push_back(1e9 * static_cast<double>(1 + random() % 5));
        for (const MeshTrial& model : {perceptron_trial(), transformer_trial(3, false)}) {
          Parallel layout = parallel;
          // Not of 8 tokens among 3 ranks.
          layout.sequence_parallel = model.problem.vocabulary > 0 && ranks != 3 && data == 2;
          const MeshTrial trial = on(model, layout, speeds);
          const Outcome cut = trial.run(), whole = uncut(trial).run();
          REQUIRE(cut.record.error.empty());
          CHECK(relative_distance(cut.final_parameters(), whole.final_parameters()) <= 1e-12);
        }
      }
}

TEST_CASE("shards of the optimizer, clipping, context ranks and experts leave unlike shares' numbers as they are") {
  auto zero = std::make_shared<strategies::Zero>();
  zero->stage = 2;
  Parallel parallel = tensor(2, 2);
  parallel.expert = 2;
  MeshTrial experts = on(experts_trial(2, true), parallel, {1e9, 3e9, 2e9, 2e9, 1e9, 5e9, 4e9, 9e9});
  experts.strategy = zero;
  experts.training.clip_norm = 0.05;
  parallel.expert = 1;
  parallel.context = 2;
  const MeshTrial context = on(transformer_trial(2, true), parallel, {1e9, 3e9, 2e9, 2e9});
  for (const MeshTrial& trial : {experts, context}) {
    const Outcome cut = trial.run(), whole = uncut(trial).run();
    REQUIRE(cut.record.error.empty());
    CHECK(relative_distance(cut.final_parameters(), whole.final_parameters()) <= 1e-12);
  }
}

TEST_CASE("replicas have one cut, by the slowest of the ranks with a part") {
  // The first tensor rank is at 1 and 4, the second at 3 and 3.
  CHECK(units_of(on(pair_trial(12), tensor(2), {1e9, 3e9, 4e9, 3e9})) == std::vector<std::int64_t>{3, 9});
}

TEST_CASE("a gathering of unlike shares sends each rank's own numbers") {
  // 6 -> 4 -> 40 -> 1: the first layer alone, whose 4 numbers are gathered, and a pair with two sums, of 1 and of 4.
  MeshTrial trial = pair_trial(4);
  auto model = std::make_shared<models::Perceptron>();
  model->hidden = {4, 40};
  trial.model = model;
  trial.training.numbers = false;
  trial.data = {};
  trial.steps = 1;
  const record::Record record = on(trial, tensor(2), {1e9, 3e9}).run().record;
  REQUIRE(record.error.empty());
  // A ring of two: each sends its part of a gathering, and in a sum as many numbers as that has.
  CHECK(record.ranks[0].bytes_sent == 48 * 8 * (1 + 1 + 4));
  CHECK(record.ranks[1].bytes_sent == 48 * 8 * (3 + 1 + 4));
}

TEST_CASE("a rank's memory follows its share, as the formula says") {
  Parallel parallel = tensor(2, 2);
  parallel.pipeline = 2;
  for (MeshTrial trial : {transformer_trial(4, false), perceptron_trial()}) {
    trial.training.numbers = false;
    trial.data = {};
    trial.training.optimizer.choose("adam");
    trial = on(trial, parallel, {1e9, 3e9, 3e9, 1e9});
    const record::Record record = trial.run().record;
    REQUIRE(record.error.empty());
    const auto needed = strategies::memory_of_tensor_ranks(*trial.strategy, trial.parallel, memory_terms(trial));
    REQUIRE((needed.size() == 2 && needed[0].size() == 2 && needed[1].size() == 2));
    for (std::size_t rank = 0; rank < 4; ++rank) {
      CAPTURE(rank);
      CHECK(record.ranks[rank].memory_bytes.value_or(0.0) == Approx(needed[rank / 2][rank % 2].sum()).epsilon(1e-9));
    }
    CHECK(needed[0][1].sum() > 1.2 * needed[0][0].sum());
  }
}

TEST_CASE("memory bounds a share, to a unit, and the other ranks have the rest by their speeds") {
  MeshTrial trial = on(pair_trial(1200), tensor(3), {1e9, 2e9, 3e9});
  const auto needed = [&] {
    const auto of_stages = strategies::memory_of_tensor_ranks(*trial.strategy, trial.parallel, memory_terms(trial));
    std::vector<double> all;
    for (const record::MemoryParts& parts : of_stages.front()) all.push_back(parts.sum());
    return all;
  };
  CHECK(units_of(trial) == std::vector<std::int64_t>{200, 400, 600});
  // A unit more has 6 weights, a bias and a weight of the second layer, a copy of their gradients in a bucket, and the
  // gradient of the second layer's weight, which comes while a number a row is kept.
  const double a_unit = 8.0 * (2 * 8 + 1 + 48);
  const double limit = needed()[2] - 150.5 * a_unit;
  trial.parallel.powers[2].memory_bytes = limit;
  // The other 751 units: a third and two thirds.
  CHECK(units_of(trial) == std::vector<std::int64_t>{250, 501, 449});
  CHECK(needed()[2] <= limit);
  CHECK(needed()[2] > limit - a_unit);
  // Nothing fits: the shares by speed stay, and the check of memory refuses them.
  for (RankPower& power : trial.parallel.powers) power.memory_bytes = 1.0;
  CHECK(units_of(trial) == std::vector<std::int64_t>{200, 400, 600});
}

}  // namespace tensor_shares_test
