// The memory of a GPU of the first stage, against that which V. Korthikanti et al., Reducing Activation Recomputation
// in Large Transformer Models, MLSys 2023, give for GPT models on 64, 280 and 512 A100: states of blocks, 18 bytes a
// parameter, and activations with sequence parallelism and selective recomputation.
#include "strategies/mesh_trial.h"

namespace published_memory_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::MemoryPart;
using record::MemoryParts;

namespace {

struct Published {
  std::int64_t layers, hidden, heads;
  std::int64_t pipeline, chunks;
  std::int64_t batch;  // micro-batches of one sequence
  double states_gib, activations_gib;
};

/// Eight tensor ranks, a sequence of 2,048 tokens, a vocabulary of 51,200, no data parallelism.
MeshTrial trial_of(const Published& published) {
  auto model = std::make_shared<models::Transformer>();
  model->options.layers = published.layers;
  model->options.hidden = published.hidden;
  model->options.heads = published.heads;
  model->options.sequence = 2048;
  model->options.dropout = true;
  auto replicas = around_a_ring<strategies::Allreduce>();
  replicas->bucket_bytes = {};
  MeshTrial trial{.model = model, .problem = {.features = 2048, .vocabulary = 51200}, .strategy = replicas};
  trial.rows = trial.batch = published.batch;
  trial.parallel.tensor = 8;
  trial.parallel.pipeline = published.pipeline;
  trial.parallel.chunks = published.chunks;
  trial.parallel.schedule.choose(published.chunks > 1 ? "interleaved_1f1b" : "1f1b");
  trial.parallel.micro_batches = published.batch;
  trial.parallel.sequence_parallel = true;
  trial.parallel.balance = strategies::Balance::blocks;
  trial.workers = static_cast<int>(8 * published.pipeline);
  trial.training.precision = training::Precision::bfloat16;
  trial.training.recompute = training::Recompute::selective;
  trial.training.optimizer.choose("adam");
  return trial;
}

}  // namespace

TEST_CASE("a GPU of published trainings holds the states and activations that their authors give") {
  constexpr double gib = 0x1.0p30;
  const std::vector<Published> rows{{96, 12288, 96, 8, 3, 64, 45.56, 12.35},
                                    {105, 20480, 128, 35, 3, 280, 31.64, 23.08},
                                    {128, 25600, 160, 64, 1, 512, 32.96, 26.56}};
  for (const Published& published : rows) {
    CAPTURE(published.layers);
    const MeshTrial trial = trial_of(published);
    const auto on_mesh = strategies::on_mesh(trial.strategy, trial.parallel);
    const auto& stages = dynamic_cast<const strategies::OnMesh&>(*on_mesh);
    const MemoryParts first = stages.memory_of_stages(memory_terms(trial)).front();
    // The authors count 12 h^2 parameters a block, without the embedding, which is the first stage's: V h / 8 and the
    // learned positions.
    const double embedding = (51200.0 / 8 + 2048) * static_cast<double>(published.hidden);
    const double states =
        first[MemoryPart::parameters] + first[MemoryPart::gradients] + first[MemoryPart::optimizer] - 18 * embedding;
    CHECK(states / gib == Approx(published.states_gib).epsilon(0.002));
    CHECK(first[MemoryPart::activations] / gib == Approx(published.activations_gib).epsilon(0.03));
    CHECK(first.sum() - 18 * embedding ==
          Approx((published.states_gib + published.activations_gib) * gib).epsilon(0.02));
  }
}

}  // namespace published_memory_test
