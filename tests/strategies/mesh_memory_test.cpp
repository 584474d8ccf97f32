// The memory of ranks of a mesh: what a run holds at its peak, against the formula by which a run is refused.
#include "strategies/mesh_trial.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"

namespace mesh_memory_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Parallel;
using training::Recompute;

namespace {

struct Case {
  std::string name;
  std::int64_t tensor = 1, pipeline = 1, micro_batches = 1, chunks = 1;
  int data = 1;
  const char* schedule = "1f1b";
  bool sequence_parallel = false;
  std::int64_t context = 1, expert = 1;
};

std::shared_ptr<strategies::Zero> zero(std::int64_t stage) {
  auto zero = std::make_shared<strategies::Zero>();
  zero->stage = stage;
  return zero;
}

std::shared_ptr<strategies::Fsdp> fsdp(std::int64_t limit, bool reshard_after_forward) {
  auto fsdp = std::make_shared<strategies::Fsdp>();
  fsdp->limit = limit;
  fsdp->reshard_after_forward = reshard_after_forward;
  return fsdp;
}

MeshTrial trial_of(const Case& its, std::shared_ptr<const strategies::Strategy> strategy, Recompute recompute) {
  MeshTrial trial = its.expert > 1 ? experts_trial(6, false) : transformer_trial(6, false);
  trial.data = {};
  trial.rows = trial.batch = 96;
  trial.strategy = std::move(strategy);
  trial.parallel.tensor = its.tensor;
  trial.parallel.pipeline = its.pipeline;
  trial.parallel.micro_batches = its.micro_batches;
  trial.parallel.chunks = its.chunks;
  trial.parallel.schedule.choose(its.schedule);
  trial.parallel.sequence_parallel = its.sequence_parallel;
  trial.parallel.context = its.context;
  trial.parallel.expert = its.expert;
  trial.workers = its.data * static_cast<int>(trial.parallel.ranks_a_replica());
  trial.training.numbers = false;
  trial.steps = 2 * its.pipeline;  // an asynchronous pipeline fills over several
  trial.training.optimizer.choose("adam");
  trial.training.recompute = recompute;
  return trial;
}

double by_formula(const MeshTrial& trial) {
  return strategies::on_mesh(trial.strategy, trial.parallel)->memory(memory_terms(trial)).sum();
}

double held(const MeshTrial& trial) { return peak_memory(trial.run().record); }

}  // namespace

TEST_CASE("the formula of a cut model's memory is what its fullest rank holds") {
  const std::vector<Case> cases{
      {.name = "1f1b", .pipeline = 4, .micro_batches = 8},
      {.name = "gpipe", .pipeline = 4, .micro_batches = 8, .schedule = "gpipe"},
      {.name = "naive", .pipeline = 4, .micro_batches = 8, .schedule = "naive"},
      {.name = "1f1b of many", .pipeline = 2, .micro_batches = 24},
      {.name = "interleaved of many", .pipeline = 2, .micro_batches = 16, .chunks = 2, .schedule = "interleaved_1f1b"},
      {.name = "zb_h1", .pipeline = 4, .micro_batches = 8, .schedule = "zb_h1"},
      {.name = "zb_h2", .pipeline = 4, .micro_batches = 8, .schedule = "zb_h2"},
      {.name = "interleaved", .pipeline = 2, .micro_batches = 8, .chunks = 4, .schedule = "interleaved_1f1b"},
      {.name = "tensor", .tensor = 4, .micro_batches = 4},
      {.name = "sequence", .tensor = 4, .micro_batches = 4, .sequence_parallel = true},
      {.name = "all", .tensor = 2, .pipeline = 4, .micro_batches = 4, .data = 2},
      {.name = "2bw", .pipeline = 4, .micro_batches = 4, .schedule = "pipedream_2bw"},
      {.name = "pipedream", .pipeline = 4, .schedule = "pipedream"},
      {.name = "context", .pipeline = 2, .micro_batches = 4, .context = 4},
      {.name = "context of tensor", .tensor = 2, .micro_batches = 4, .sequence_parallel = true, .context = 2},
      {.name = "expert", .pipeline = 2, .micro_batches = 4, .expert = 4},
      {.name = "expert and data", .data = 2, .expert = 2},
      {.name = "micro-batches alone", .micro_batches = 4, .data = 2}};
  for (const Case& its : cases)
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full})
      for (const int stage : {0, 1, 2}) {
        CAPTURE(its.name, recompute, stage);
        const MeshTrial trial = stage > 0 ? trial_of(its, zero(stage), recompute)
                                          : trial_of(its, std::make_shared<strategies::Allreduce>(), recompute);
        CHECK(by_formula(trial) == Approx(held(trial)).epsilon(1e-9));
      }
  auto in_parts = std::make_shared<strategies::Allreduce>();
  in_parts->micro_batches = 4;
  const MeshTrial trial = trial_of(cases.front(), in_parts, Recompute::none);
  CHECK(by_formula(trial) == Approx(held(trial)).epsilon(1e-9));
}

TEST_CASE("the gradient of a tied copy is in memory from the head's first backward pass on") {
  MeshTrial trial = trial_of({.name = "tied", .pipeline = 2, .micro_batches = 4},
                             std::make_shared<strategies::Allreduce>(), Recompute::full);
  const auto bytes = [&](bool tied) {
    trial.model = transformer_trial(2, tied).model;
    trial.parallel.stages = {1.0, 3.0};  // the last stage is the fullest
    CHECK(by_formula(trial) == Approx(held(trial)).epsilon(1e-9));
    return by_formula(trial);
  };
  CHECK(bytes(true) == Approx(bytes(false)).epsilon(1e-9));  // a copy takes the place of the head's own matrix
}

TEST_CASE("the formula of a cut model whose units are gathered is what its fullest rank holds, within 1 %") {
  // A shard is rounded up once in the formula, and unit by unit in a run.
  const std::vector<Case> cases{
      {.name = "1f1b", .pipeline = 2, .micro_batches = 8, .data = 2},
      {.name = "gpipe", .pipeline = 4, .micro_batches = 8, .data = 2, .schedule = "gpipe"},
      {.name = "zb_h1", .pipeline = 4, .micro_batches = 8, .data = 3, .schedule = "zb_h1"},
      {.name = "interleaved",
       .pipeline = 2,
       .micro_batches = 4,
       .chunks = 4,
       .data = 2,
       .schedule = "interleaved_1f1b"},
      {.name = "tensor", .tensor = 4, .micro_batches = 2, .data = 4},
      {.name = "all", .tensor = 2, .pipeline = 2, .micro_batches = 4, .data = 3, .context = 2},
      {.name = "expert", .pipeline = 2, .micro_batches = 2, .data = 2, .expert = 4},
      {.name = "one replica", .tensor = 2, .micro_batches = 2},
      {.name = "micro-batches alone", .micro_batches = 4, .data = 4}};
  auto in_parts = fsdp(2, true);
  in_parts->micro_batches = 2;
  auto alone = fsdp(2, true);
  alone->shard_group = 1;
  for (const Case& its : cases)
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full})
      for (const auto& strategy : {fsdp(2, true), fsdp(4, true), fsdp(2, false), in_parts, alone}) {
        CAPTURE(its.name, recompute, strategy->limit, strategy->reshard_after_forward);
        const MeshTrial trial = trial_of(its, strategy, recompute);
        CHECK(by_formula(trial) == Approx(held(trial)).epsilon(0.01));
      }
}

}  // namespace mesh_memory_test
