// A vocabulary that does not divide among tensor ranks: the parameters are those of uncut replicas, and times and bytes
// those that every rank's simulation gives.
#include "strategies/fragile.h"
#include "strategies/mesh_trial.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"

namespace padded_vocabulary_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t tokens = 13;

MeshTrial cut_trial(std::int64_t tensor, std::int64_t pipeline, std::int64_t context, bool tied) {
  MeshTrial trial = context > 1 ? experts_trial(2, tied) : transformer_trial(2, tied);
  trial.problem.vocabulary = tokens;
  trial.data = text_data(trial.rows, trial.problem.features, tokens);
  trial.parallel.tensor = tensor;
  trial.parallel.pipeline = pipeline;
  trial.parallel.context = context;
  trial.parallel.micro_batches = pipeline > 1 ? 4 : 1;
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.workers = 2 * static_cast<int>(trial.parallel.ranks_a_replica());
  return trial;
}

MeshTrial uncut(MeshTrial trial) {
  auto plain = around_a_ring<strategies::Allreduce>();
  plain->micro_batches = trial.parallel.micro_batch_count();
  plain->no_sync = plain->micro_batches > 1;
  trial.strategy = plain;
  trial.workers = 2;
  trial.parallel = {};
  return trial;
}

}  // namespace

TEST_CASE("tensor ranks that share a padded vocabulary train the parameters of uncut replicas, to 1e-12") {
  for (const bool tied : {false, true})
    for (const std::int64_t tensor : {2, 4})
      for (const auto& [pipeline, context] : {std::pair(1, 1), std::pair(2, 1), std::pair(1, 2)})
        for (const auto precision : {training::Precision::float64, training::Precision::bfloat16}) {
          CAPTURE(tied, tensor, pipeline, context, precision);
          MeshTrial cut = cut_trial(tensor, pipeline, context, tied);
          cut.training.precision = precision;
          const Outcome on_mesh = cut.run(), plain = uncut(cut).run();
          REQUIRE(on_mesh.record.error.empty());
          const bool exact = precision == training::Precision::float64;
          CHECK(relative_distance(on_mesh.final_parameters(), plain.final_parameters()) <= (exact ? 1e-12 : 1e-2));
        }
}

TEST_CASE("a padded vocabulary takes as long message by message, and after a crash trains what was lost again") {
  auto zero = std::make_shared<strategies::Zero>();
  zero->stage = 2;
  const std::vector<std::shared_ptr<const strategies::Strategy>> all{around_a_ring<strategies::Allreduce>(), zero,
                                                                     std::make_shared<strategies::Fsdp>()};
  for (const auto& strategy : all) {
    MeshTrial trial = cut_trial(4, 1, 1, true);
    trial.strategy = strategy;
    const Outcome undisturbed = trial.run();
    MeshTrial by_messages = trial;
    by_messages.cluster.collectives = cluster::Collectives::messages;
    const Outcome slow = by_messages.run();
    CHECK(slow.record.simulated_s == Approx(undisturbed.record.simulated_s).epsilon(1e-9));
    CHECK(slow.record.bytes == undisturbed.record.bytes);
    MeshTrial crashing = trial;
    crashing.cluster.failures.crashes = {crash(5, undisturbed.record.simulated_s / 2)};
    crashing.cluster.failures.recovery = Recovery::restart;
    crashing.cluster.failures.detection_s = detection_s;
    const Outcome crashed = crashing.run();
    REQUIRE(crashed.record.error.empty());
    CHECK(crashed.record.simulated_s > undisturbed.record.simulated_s);
    CHECK(relative_distance(crashed.final_parameters(), undisturbed.final_parameters()) <= 1e-12);
  }
}

TEST_CASE("the ranks of a padded vocabulary are all simulated, for the last ones have fewer tokens") {
  MeshTrial trial = cut_trial(2, 1, 1, true);
  trial.data = {};
  trial.training.numbers = false;
  MeshTrial every = trial;
  every.parallel.simulate = strategies::Simulate::all;
  const Outcome some = trial.run(), all = every.run();
  REQUIRE(some.record.error.empty());
  CHECK(some.record.bytes == all.record.bytes);
  // 7 and 6 tokens of 16 numbers, and nothing else differs.
  CHECK(all.record.ranks[0].memory_bytes > all.record.ranks[1].memory_bytes);
  CHECK(some.record.simulated_s == Approx(all.record.simulated_s).epsilon(1e-12));
}

}  // namespace padded_vocabulary_test
