// Training by ranks that share experts or tokens: the parameters are those of uncut replicas, and bytes and times those
// of the formulas.
#include <random>

#include "strategies/mesh_trial.h"
#include "strategies/sharded/zero.h"

namespace mesh_shares_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Parallel;

namespace {

/// A transformer of four blocks, in each second one of which four experts take few tokens.
MeshTrial experts_trial(bool tied) {
  MeshTrial trial = transformer_trial(4, tied);
  auto model = std::make_shared<models::Transformer>(dynamic_cast<const models::Transformer&>(*trial.model));
  model->options.experts = 4;
  model->options.top_k = 2;
  model->options.capacity_factor = 0.75;
  model->options.auxiliary_loss = 0.1;
  model->options.expert_every = 2;
  trial.model = model;
  return trial;
}

/// On a mesh, and as replicas that add the gradients of as many micro-batches.
void check_equal(MeshTrial cut, const Parallel& parallel, int data, const char* optimizer = "sgd") {
  cut.parallel = parallel;
  cut.workers = data * static_cast<int>(parallel.ranks_a_replica());
  cut.training.optimizer.choose(optimizer);
  if (!cut.strategy) cut.strategy = std::make_shared<strategies::Allreduce>();
  MeshTrial whole = cut;
  whole.workers = data;
  whole.parallel = {};
  auto plain = std::make_shared<strategies::Allreduce>();
  plain->micro_batches = parallel.micro_batch_count();
  plain->no_sync = plain->micro_batches > 1;
  whole.strategy = plain;
  const Outcome on_mesh = cut.run(), replicas = whole.run();
  REQUIRE(on_mesh.record.error.empty());
  REQUIRE(replicas.record.error.empty());
  REQUIRE(on_mesh.evaluated.size() == replicas.evaluated.size());
  CHECK(relative_distance(on_mesh.final_parameters(), replicas.final_parameters()) <= 1e-12);
  CHECK(relative_distance(on_mesh.final_parameters(), on_mesh.evaluated.front()) > 1e-3);  // something is trained
}

Parallel sharing(std::int64_t expert, std::int64_t context = 1, std::int64_t tensor = 1, std::int64_t pipeline = 1) {
  Parallel parallel;
  parallel.expert = expert;
  parallel.context = context;
  parallel.tensor = tensor;
  parallel.pipeline = pipeline;
  return parallel;
}

}  // namespace

TEST_CASE("expert ranks train the parameters of uncut replicas, with tokens that experts drop, to 1e-12 over 20 steps") {
  for (const bool tied : {false, true})
    for (const std::int64_t expert : {2, 4})
      for (const std::int64_t pipeline : {1, 2})
        for (const int data : {1, 2}) {
          CAPTURE(tied, expert, pipeline, data);
          Parallel parallel = sharing(expert, 1, 1, pipeline);
          parallel.micro_batches = 2;
          MeshTrial trial = experts_trial(tied);
          trial.steps = 20;
          check_equal(trial, parallel, data);
        }
}

TEST_CASE("buckets, shards of the optimizer, clipping and orders of ranks leave expert ranks' numbers as they are") {
  auto buckets = std::make_shared<strategies::Allreduce>();
  buckets->bucket_bytes = 2000.0;
  auto zero = std::make_shared<strategies::Zero>();
  zero->stage = 1;
  for (const std::shared_ptr<const strategies::Strategy>& strategy :
       std::vector<std::shared_ptr<const strategies::Strategy>>{buckets, zero}) {
    Parallel parallel = sharing(2, 1, 1, 2);
    parallel.order = {"expert", "data", "pipeline", "tensor"};
    parallel.micro_batches = 4;
    MeshTrial trial = experts_trial(true);
    trial.strategy = strategy;
    check_equal(trial, parallel, 2, "momentum");
  }
  MeshTrial clipped = experts_trial(true);
  clipped.training.clip_norm = 0.1;
  check_equal(clipped, sharing(4, 1, 1, 2), 1);
}

}  // namespace mesh_shares_test
