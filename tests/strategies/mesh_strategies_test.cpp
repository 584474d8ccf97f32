// Every strategy that works on a mesh trains there as among uncut replicas.
#include "strategies/gossip/gossip.h"
#include "strategies/mesh_trial.h"
#include "strategies/parallel/stages.h"
#include "strategies/strategy.h"

namespace mesh_strategies_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Parallel;

namespace {

Parallel cut(std::int64_t tensor, std::int64_t context, std::int64_t pipeline, std::int64_t micro_batches) {
  Parallel parallel;
  parallel.tensor = tensor;
  parallel.context = context;
  parallel.pipeline = pipeline;
  parallel.micro_batches = micro_batches;
  return parallel;
}

/// Three replicas, cut so and uncut.
void check_equal(MeshTrial trial, const Parallel& parallel) {
  constexpr int replicas = 3;
  trial.steps = 6;
  trial.workers = replicas;
  const Outcome uncut = trial.run();
  trial.parallel = parallel;
  trial.workers = replicas * static_cast<int>(parallel.ranks_a_replica());
  const Outcome on_mesh = trial.run();
  REQUIRE(uncut.record.error.empty());
  REQUIRE(on_mesh.record.error.empty());
  CHECK(on_mesh.evaluated.front() == uncut.evaluated.front());
  CHECK(relative_distance(uncut.final_parameters(), uncut.evaluated.front()) > 1e-3);  // something is trained
  CHECK(relative_distance(on_mesh.final_parameters(), uncut.final_parameters()) <= 1e-12);
}

}  // namespace

TEST_CASE("every strategy that a mesh takes trains the parameters of uncut replicas, to 1e-12") {
  for (const char* const kind :
       {"allreduce", "d2", "diloco", "gossip", "gradient_tracking", "local_sgd", "sgp", "zero"})
    for (const Parallel& parallel :
         {cut(1, 1, 1, 2), cut(1, 2, 1, 1), cut(2, 1, 1, 2), cut(1, 1, 2, 2), cut(2, 2, 2, 2)}) {
      CAPTURE(kind, parallel.tensor, parallel.context, parallel.pipeline, parallel.micro_batch_count());
      MeshTrial trial = transformer_trial(4, false);
      trial.strategy = strategies::registry().find(kind)->make();
      check_equal(trial, parallel);
    }
}

TEST_CASE("the initial values of every part are the whole model's, also where parts have equal lengths") {
  const MeshTrial trial = transformer_trial(4, true);
  values::Dispatcher dispatcher({.numbers = true, .label = {}});
  const training::Learning whole({.data = std::make_shared<const data::Split>(data::Split{trial.data, {}}),
                                  .model = trial.model,
                                  .problem = trial.problem,
                                  .rows = trial.rows,
                                  .batch = trial.batch},
                                 dispatcher);
  const auto numbers = [](const values::Tensor& w) { return std::vector<double>(w.value().begin(), w.value().end()); };
  const Parallel parallel = cut(2, 1, 2, 1);
  const training::ModelParts parts(whole, {parallel.mesh(4), strategies::chunks_of_parts(parallel, whole.layers())});
  std::vector<values::Tensor> all;  // held, so that equal operations would share their result
  for (int rank = 0; rank < 4; ++rank) {
    all.push_back(parts.learning(rank).initial_values());
    CHECK(numbers(all.back()) == numbers(parts.of_whole(rank, whole.initial_values())));
  }
  CHECK(all[0].size() == all[1].size());
  CHECK(numbers(all[0]) != numbers(all[1]));
}

TEST_CASE("gossip of compressed differences begins with the copies that uncut replicas have") {
  for (const Parallel& parallel : {cut(1, 1, 1, 2), cut(1, 2, 1, 2)}) {  // top_k looks at the parameters of a rank
    auto gossip = std::make_shared<strategies::Gossip>();
    gossip->compression.choose("top_k");
    MeshTrial trial = transformer_trial(4, false);
    trial.strategy = gossip;
    check_equal(trial, parallel);
  }
}

}  // namespace mesh_strategies_test
