// The data-parallel tail of a cut model's step: time of the strategy among the ranks with the same part.
#include "strategies/equal_layers.h"
#include "strategies/mesh_trial.h"

namespace mesh_tail_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::TimePart;

namespace {

constexpr double forward_s = 1.0, inputs_s = 1.1, weights_s = 0.7;
constexpr double back_s = inputs_s + weights_s, work_s = forward_s + back_s;
constexpr int p = 2, D = 4, m = 4;            // stages, replicas, micro-batches
constexpr std::int64_t parameters = 1 << 20;  // of a layer

/// Two stages of so many layers, which take as long together as one layer would, in four replicas.
MeshTrial replicas_of_stages(std::int64_t layers, std::int64_t steps, int replicas = D) {
  auto model = std::make_shared<EqualLayers>();
  const auto n = static_cast<double>(layers);
  model->count = p * layers;
  model->parameters_a_layer = parameters;
  model->forward_s = forward_s / n;
  model->inputs_s = inputs_s / n;
  model->weights_s = weights_s / n;
  MeshTrial trial{.model = model, .problem = *model->own_problem(), .strategy = {}};
  trial.parallel.pipeline = p;
  trial.parallel.micro_batches = m;
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.workers = p * replicas;
  trial.rows = trial.batch = m * replicas;
  trial.steps = steps;
  trial.training.numbers = false;
  return trial;
}

/// A ring's sum of a layer's gradient among the replicas.
double ring_s(bool charges) {
  const auto n = static_cast<double>(parameters);
  return 2.0 * (D - 1) * (alpha + 8.0 * n / D / B) + (charges ? (D - 1) * n / D / speed : 0.0);
}

std::int64_t stage_of(const record::RankUse& rank) { return *rank.mesh.pipeline; }

/// The causes of a rank's time that are not the tail.
double others_s(const record::RankUse& rank) {
  return rank.parts[TimePart::compute_gradient] + rank.parts[TimePart::compute_update] + *rank.mesh.hop_s +
         *rank.mesh.bubble_s;
}

}  // namespace

TEST_CASE("the tail of a step is the sum of the gradients after the passes, and the causes add up to the step") {
  for (const auto simulate : {strategies::Simulate::one_of_alike, strategies::Simulate::all})
    for (const bool charges : {false, true}) {
      CAPTURE(charges, simulate == strategies::Simulate::all);
      const std::int64_t steps = 3;
      MeshTrial trial = replicas_of_stages(1, steps);
      trial.parallel.simulate = simulate;
      trial.cluster.charge_reductions = charges;
      const record::Record record = trial.run().record;
      REQUIRE(record.error.empty());
      REQUIRE(record.ranks.size() == p * D);
      for (const record::RankUse& rank : record.ranks) {
        CAPTURE(stage_of(rank));
        const double tail = static_cast<double>(steps) * ring_s(charges);
        CHECK(*rank.mesh.data_s == Approx(tail).epsilon(1e-9));
        // Stage 1 has nothing to do while stage 0 does its last backward pass of the run.
        const double idle = stage_of(rank) == 1 ? back_s : 0.0;
        CHECK(others_s(rank) + *rank.mesh.data_s + idle == Approx(record.simulated_s).epsilon(1e-9));
      }
    }
}

TEST_CASE("replicas choose the fastest algorithm in which all of them do alike") {
  // Rabenseifner's algorithm among four; among three it would not have all of them do alike, and the ring is left.
  const auto n = static_cast<double>(parameters);
  for (const auto& [replicas, rounds] : {std::pair(4, 2.0 * 2), std::pair(3, 2.0 * (3 - 1))})
    for (const bool charges : {false, true})
      for (const auto precision : {training::Precision::float64, training::Precision::float32})
        for (const auto simulate : {strategies::Simulate::one_of_alike, strategies::Simulate::all}) {
          CAPTURE(replicas, charges, precision == training::Precision::float64, simulate == strategies::Simulate::all);
          MeshTrial trial = replicas_of_stages(1, 2, replicas);
          trial.strategy = std::make_shared<strategies::Allreduce>();
          trial.parallel.simulate = simulate;
          trial.training.precision = precision;
          trial.cluster.charge_reductions = charges;
          const record::Record record = trial.run().record;
          REQUIRE(record.error.empty());
          const double others = replicas - 1.0, chunk = std::ceil(n / replicas) * replicas / n;
          const double bytes = training::number_bytes(precision).wire * n;
          const double sum_s =
              rounds * alpha + chunk * others / replicas * (2.0 * bytes / B + (charges ? n / speed : 0.0));
          // Thirds of the vector differ by a number.
          for (const record::RankUse& rank : record.ranks)
            CHECK(*rank.mesh.data_s == Approx(2.0 * sum_s).epsilon(replicas == 3 ? 1e-6 : 1e-9));
        }
}

TEST_CASE("what the backward pass hides of the sums is not in the tail") {
  const std::int64_t steps = 2, layers = 2;
  MeshTrial trial = replicas_of_stages(layers, steps);
  trial.cluster.charge_reductions = false;
  auto buckets = around_a_ring<strategies::Allreduce>();
  buckets->bucket_bytes = 8.0 * parameters;
  trial.strategy = buckets;
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  // The sum of the last layer is over before the backward pass through the first one is; that of the first one is not
  // hidden.
  REQUIRE(ring_s(false) < back_s / layers);
  for (const record::RankUse& rank : record.ranks) {
    CAPTURE(stage_of(rank));
    // Stage 1 ends its passes with a message to stage 0, beside which the second sum begins.
    const double hop = stage_of(rank) == 1 ? alpha : 0.0;
    CHECK(*rank.mesh.data_s == Approx(static_cast<double>(steps) * (ring_s(false) - hop)).epsilon(1e-9));
  }
}

TEST_CASE("waiting for a slower replica is in the tail") {
  MeshTrial trial = replicas_of_stages(1, 1);
  trial.cluster.charge_reductions = false;
  trial.cluster.relative_speeds = {0.5, 1.0, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0};  // of replicas 0 to 3, by stage
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  for (const record::RankUse& rank : record.ranks) {
    CAPTURE(stage_of(rank), *rank.mesh.data);
    // Stage 1 has ended its passes when stage 0 begins its last backward pass.
    const double passes = (m + p - 1) * work_s - (stage_of(rank) == 1 ? back_s : 0.0);
    CHECK(*rank.mesh.data_s == Approx(ring_s(false) + (*rank.mesh.data == 0 ? 0.0 : passes)).epsilon(1e-9));
  }
}

TEST_CASE("the norm of the whole gradient, which all ranks of a replica add up, is not in the tail") {
  const std::int64_t steps = 2;
  MeshTrial trial = replicas_of_stages(1, steps);
  trial.cluster.charge_reductions = false;
  trial.training.clip_norm = 1.0;
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  for (const record::RankUse& rank : record.ranks)
    CHECK(*rank.mesh.data_s == Approx(static_cast<double>(steps) * ring_s(false)).epsilon(1e-9));
}

TEST_CASE("a rank that has ended and starts again after a failure was idle in between, which is no tail") {
  const std::int64_t steps = 2;
  MeshTrial trial = replicas_of_stages(1, steps);
  trial.cluster.charge_reductions = false;
  const double undisturbed_s = trial.run().record.simulated_s;
  cluster::Crash crash;  // in the last backward pass of stage 0
  crash.rank = 0;
  crash.at_s = undisturbed_s - 0.5 * back_s;
  crash.repair_s = 1.0;
  trial.cluster.failures.crashes = {crash};
  trial.cluster.failures.recovery = cluster::Recovery::restart;
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  REQUIRE(record.crashes == 1);
  for (const record::RankUse& rank : record.ranks) {
    CAPTURE(stage_of(rank));
    const double sums = 2.0 * static_cast<double>(steps) - (stage_of(rank) == 1 ? 0.0 : 1.0);
    CHECK(*rank.mesh.data_s == Approx(sums * ring_s(false)).epsilon(1e-9));
  }
}

TEST_CASE("one replica, and a model that is not cut, have no tail") {
  CHECK_FALSE(replicas_of_stages(1, 1, 1).run().record.ranks.front().mesh.data_s);
  MeshTrial uncut = replicas_of_stages(1, 1);
  uncut.parallel = {};
  CHECK_FALSE(uncut.run().record.ranks.front().mesh.data_s);
}

}  // namespace mesh_tail_test
