// The record of a training on a mesh: places, the bubble of a pipeline, and the links of each dimension.
#include "strategies/equal_layers.h"
#include "strategies/mesh_trial.h"

namespace mesh_record_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Parallel;

namespace {

/// One layer a stage, of which a micro-batch takes F = 1, B = 1.1 and W = 0.7 seconds.
constexpr double forward_s = 1.0, inputs_s = 1.1, weights_s = 0.7;

MeshTrial layers_on(std::string_view schedule, int p, int m, std::int64_t steps, double latency_s) {
  auto model = std::make_shared<EqualLayers>();
  model->count = p;
  model->forward_s = forward_s;
  model->inputs_s = inputs_s;
  model->weights_s = weights_s;
  MeshTrial trial{.model = model, .problem = *model->own_problem(), .strategy = {}};
  trial.parallel.pipeline = p;
  trial.parallel.micro_batches = m;
  trial.parallel.schedule.choose(schedule);
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.workers = p;
  trial.rows = trial.batch = m;
  trial.steps = steps;
  trial.training.numbers = false;
  trial.cluster.charge_reductions = false;
  trial.cluster.host_spec.latency_s = latency_s;
  return trial;
}

}  // namespace

TEST_CASE("the bubble of 1F1B is p - 1 times the work of a micro-batch a step, on every stage") {
  const double back = inputs_s + weights_s, work = forward_s + back;
  for (const auto& [p, m] : {std::pair(2, 4), std::pair(4, 8)})
    for (const std::int64_t steps : {1, 3}) {
      CAPTURE(p, m, steps);
      const record::Record record = layers_on("1f1b", p, m, steps, 0.0).run().record;
      REQUIRE(record.error.empty());
      const auto n = static_cast<double>(steps);
      CHECK(record.simulated_s == Approx(n * (m + p - 1) * work).epsilon(1e-9));
      // Stage i has done its last backward pass i backward passes before stage 0 has; then nothing is waited for.
      for (int i = 0; i < p; ++i) {
        const record::RankUse& use = record.ranks[static_cast<std::size_t>(i)];
        CHECK(*use.mesh.bubble_s == Approx(n * (p - 1) * work - i * back).epsilon(1e-9));
        CHECK(*use.mesh.hop_s == Approx(0.0).margin(1e-9));
        CHECK_FALSE(use.mesh.tensor_s);
      }
      const double mean = n * (p - 1) * work - 0.5 * (p - 1) * back;
      CHECK(*record.bubble_s == Approx(mean).epsilon(1e-9));
      CHECK(*record.bubble_share == Approx(mean / (n * (m + p - 1) * work)).epsilon(1e-9));
    }
}

TEST_CASE("transfers between stages are hops, and the wait for their start is the bubble") {
  const double F = forward_s, back = inputs_s + weights_s, hop = 0.01;
  const int p = 4, m = 6;
  const record::Record record = layers_on("gpipe", p, m, 1, hop).run().record;
  REQUIRE(record.error.empty());
  for (int i = 0; i < p; ++i) {
    CAPTURE(i);
    const record::MeshUse& use = record.ranks[static_cast<std::size_t>(i)].mesh;
    const int behind = p - 1 - i;
    // The first activations have i - 1 hops before the one to this stage, the first derivatives those of all stages
    // behind it, there and back, but for the one to this stage. A stage ends with the hop of its last derivatives.
    const double before_forward = i > 0 ? i * F + (i - 1) * hop : 0.0;
    const double before_backward = behind > 0 ? behind * (F + back + 2.0 * hop) - hop : 0.0;
    CHECK(*use.bubble_s == Approx(before_forward + before_backward).epsilon(1e-9));
    CHECK(*use.hop_s == Approx((i > 0 ? 2.0 * hop : 0.0) + (behind > 0 ? hop : 0.0)).epsilon(1e-9));
  }
}

TEST_CASE("a rank's record has its place in the mesh, and only where the model is cut") {
  MeshTrial trial = transformer_trial(2, false);
  trial.training.numbers = false;
  trial.data = {};
  trial.steps = 1;
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.workers = 8;
  trial.parallel.tensor = 2;
  trial.parallel.pipeline = 2;
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  for (int rank = 0; rank < 8; ++rank) {  // tensor is innermost, then data, then pipeline
    const record::MeshUse& use = record.ranks[static_cast<std::size_t>(rank)].mesh;
    CHECK(use.tensor == rank % 2);
    CHECK(use.data == rank / 2 % 2);
    CHECK(use.pipeline == rank / 4);
    CHECK(*use.tensor_s > 0.0);
    CHECK(*use.tensor_s + *use.hop_s + *use.bubble_s <= (1.0 + 1e-9) * record.simulated_s);
  }
  trial.parallel = {};
  const record::Record whole = trial.run().record;
  REQUIRE(whole.error.empty());
  CHECK_FALSE(whole.ranks.front().mesh.pipeline);
  CHECK_FALSE(whole.bubble_s);
  CHECK(whole.dimensions.empty());
}

TEST_CASE("with scatter_gather each tensor rank sends its part of a hop, and the receiving ranks gather the parts") {
  MeshTrial trial = transformer_trial(4, false);
  trial.training.numbers = false;
  trial.data = {};
  trial.steps = 1;
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.workers = 8;
  trial.parallel.tensor = 4;
  trial.parallel.pipeline = 2;
  const record::Record whole = trial.run().record;
  trial.parallel.scatter_gather = true;
  const record::Record parts = trial.run().record;
  REQUIRE(whole.dimensions.size() == 2);
  REQUIRE(parts.dimensions.size() == 2);
  REQUIRE(parts.dimensions[1].dimension == "pipeline");
  // 48 rows of s h = 8 x 16 numbers of 8 bytes, there and back, each message on two links; from each of 4 ranks, or
  // once
  const double activations = 2 * 2.0 * 48 * 8 * 16 * 8;
  CHECK(static_cast<double>(whole.dimensions[1].bytes) == Approx(4 * activations));
  CHECK(static_cast<double>(parts.dimensions[1].bytes) == Approx(activations));
  // in the all-gather each of the 4 ranks sends 3/4 of the numbers
  CHECK(static_cast<double>(parts.dimensions[0].bytes - whole.dimensions[0].bytes) == Approx(3 * activations));
}

TEST_CASE("the bytes of each dimension of a mesh are counted on its links") {
  // Activations of a sample: s h = 8 x 16 numbers of 8 bytes.
  const double activations = 8.0 * 16 * 8, rows = 24;
  MeshTrial trial = transformer_trial(4, false);
  trial.training.numbers = false;
  trial.data = {};
  trial.steps = 1;
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.workers = 4;
  trial.parallel.pipeline = 2;
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  REQUIRE(record.dimensions.size() == 2);
  const record::DimensionUse &data = record.dimensions[0], &pipeline = record.dimensions[1];
  CHECK(data.dimension == "data");
  CHECK(pipeline.dimension == "pipeline");
  // A message counts on two links of a star: its sender's upwards, its receiver's downwards.
  const auto parameters = static_cast<double>(trial.model->parameters(trial.problem));
  CHECK(static_cast<double>(pipeline.bytes) == Approx(2 * 2 * 2.0 * rows * activations));  // 2 replicas, there and back
  CHECK(static_cast<double>(data.bytes) == Approx(2 * 2.0 * 8.0 * parameters));            // a ring of two
  CHECK(data.bytes + pipeline.bytes == 2 * record.bytes);
  CHECK(pipeline.links == 8);
  double busy = 0.0;
  for (const record::LinkUse& link : record.links) busy += link.utilisation;
  CHECK(8.0 * (data.utilisation + pipeline.utilisation) == Approx(busy).epsilon(1e-9));
  CHECK(pipeline.utilisation_max >= pipeline.utilisation);
}

}  // namespace mesh_record_test
