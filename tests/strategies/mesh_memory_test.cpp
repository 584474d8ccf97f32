// The memory of ranks of a mesh: what a run holds at its peak, against the formula by which a run is refused.
#include "models/profiles/profiled_model.h"
#include "share.h"
#include "strategies/counted_memory.h"

namespace mesh_memory_test {

using namespace simgrad;
using namespace simgrad::tests;
using namespace simgrad::tests::counted;

namespace {

/// A head whose gradient is whole: of its own matrix, or of the embedding's. Stage 2 sums what is complete at once, and
/// holds its chunk of the sum beside it; on a mesh the gradient stays, and the sum takes its place. The gradient of a
/// tied matrix is complete with the embedding's backward pass.
void check_replicated_head(bool tied, int t) {
  for (const int data : {2, 4})
    for (const auto& [optimizer, vectors] : {std::pair{"sgd", 0}, {"adam", 2}})
      for (const int stage : {0, 1, 2}) {
        CAPTURE(tied, t, data, optimizer, stage);
        std::shared_ptr<const strategies::Strategy> strategy = replicas_at_once();
        if (stage > 0) strategy = zero(stage);
        const double D = parameters_of_large_head(tied, t);
        const double chunk = stage < 2 || t > 1 ? 0.0 : (tied ? 2 * h : head_parameters(t)) / data;
        check_both(large_head(strategy, data, optimizer, tied, t),
                   D + vectors * D / (stage > 0 ? data : 1) + head_parameters(t) + chunk + kept_at_large_head(t));
      }
}

/// A way to shard parameters, and what a rank holds beside its shards at the head's backward pass.
struct Sharded {
  std::string name;
  std::shared_ptr<const strategies::Strategy> strategy;
  double gathered;                 ///< numbers of units
  double gradients;                ///< numbers that are not summed over the ranks yet
  double shards_of_gradients = 0;  ///< of earlier micro-batches
  std::int64_t micro_batches = 1;
};

/// H: the head's parameters, the embedding's matrix included where that is tied.
std::vector<Sharded> ways_to_shard(double D, double t) {
  const double H = head_parameters(t), next = block_parameters_of(t);  // a block is gathered ahead
  const auto in_two = [](bool no_sync) {
    auto strategy = fsdp(1, true);
    strategy->no_sync = no_sync;
    return strategy;
  };
  return {{"one unit", fsdp(1, true), H, H},
          {"two units", fsdp(2, true), H + next, H},
          {"zero", zero(3), H + next, H},
          {"all units stay", fsdp(1, false), D, H},
          {"two micro-batches, one sum", in_two(true), H, D, 0, 2},
          {"two micro-batches, a sum each", in_two(false), H, H, 1, 2}};
}

/// A head whose matrix is gathered for it, be it its own or the embedding's.
void check_gathered_head(bool tied, int t) {
  const double D = parameters_of_large_head(tied, t);
  for (const Sharded& sharding : ways_to_shard(D, t))
    for (const int data : {2, 4})
      for (const auto& [optimizer, vectors] : {std::pair{"sgd", 0}, {"adam", 2}}) {
        CAPTURE(sharding.name, tied, t, data, optimizer);
        MeshTrial trial = large_head(sharding.strategy, data, optimizer, tied, t);
        trial.parallel.micro_batches = sharding.micro_batches;
        check_both(trial, (1 + vectors + sharding.shards_of_gradients) * D / data + sharding.gathered +
                              sharding.gradients + kept_at_large_head(t) / static_cast<double>(sharding.micro_batches));
      }
}

/// A shard that is all of the parameters, and two micro-batches: a mesh's, or the strategy's.
MeshTrial whole_in_halves(bool on_mesh, bool no_sync, const char* optimizer) {
  auto strategy = fsdp(1, true);
  strategy->shard_group = 1;
  strategy->micro_batches = on_mesh ? 1 : 2;
  strategy->no_sync = no_sync;
  MeshTrial trial = large_head(strategy, 2, optimizer, false, 1);
  if (on_mesh) trial.parallel.micro_batches = 2;
  return trial;
}

}  // namespace

TEST_CASE("the formula of a cut model's memory is what its fullest rank holds") {
  const std::vector<MeshCase> cases{
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
  Share share(2);
  for (const bool tied : {false, true})
    for (const MeshCase& mesh_case : cases)
      for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full})
        for (const int stage : {0, 1, 2}) {
          if (!share.next()) continue;
          CAPTURE(mesh_case.name, recompute, stage, tied);
          const MeshTrial trial = stage > 0
                                      ? trial_of(mesh_case, zero(stage), recompute, tied)
                                      : trial_of(mesh_case, around_a_ring<strategies::Allreduce>(), recompute, tied);
          CHECK(by_formula(trial) == Approx(held(trial)).epsilon(1e-9));
        }
}

TEST_CASE("the gradient of a tied copy is in memory from the head's first backward pass on") {
  MeshTrial trial = trial_of({.name = "tied", .pipeline = 2, .micro_batches = 4}, replicas_at_once(), Recompute::full);
  trial.parallel.stages = {1.0, 3.0};  // the last stage is the fullest
  for (const bool tied : {false, true}) {
    CAPTURE(tied);
    trial.model = transformer_trial(2, tied).model;
    // Parameters, gradients and Adam's two vectors of two blocks, the last norm, and the head's own matrix or the copy
    // that takes its place. Of a micro-batch of 24 sequences the input of the first block is kept, and all that the
    // second one, which is recomputed, keeps.
    const double own = 2 * block_parameters + 2 * h + 12 * h;
    check_both(trial, 4 * own + 24 * (s * h + block_kept));
  }
}

TEST_CASE("at the backward pass of a head a rank holds the head's matrix, be it its own or the embedding's") {
  for (const bool tied : {false, true})
    for (const int t : {1, 2}) {
      check_replicated_head(tied, t);
      check_gathered_head(tied, t);
    }
}

// A sum of all of a gradient may take its place. The next one is added to it, and so is beside it.
TEST_CASE("a rank that has all parameters holds the sums of earlier micro-batches beside a gradient") {
  const double D = parameters_of_large_head(false, 1), kept = kept_at_large_head(1);
  for (const auto& [optimizer, vectors] : {std::pair{"sgd", 0}, {"adam", 2}}) {
    CAPTURE(optimizer);
    const double states = (1 + vectors) * D;
    for (const bool on_mesh : {false, true}) {
      check_both(whole_in_halves(on_mesh, false, optimizer), states + D + head_parameters(1) + kept / 2);
      check_both(whole_in_halves(on_mesh, true, optimizer), states + D + kept / 2);
    }
  }
}

namespace {

/// Units of unlike sizes, each of which keeps ten bytes of a sample.
class UnlikeUnits final : public models::ProfiledModel {
 public:
  std::vector<models::Layer> profile() const override {
    std::vector<models::Layer> all;
    std::int64_t first = 0;
    for (const std::int64_t count : {300, 1000, 100, 600}) {
      const auto unit = static_cast<std::int64_t>(all.size());
      all.push_back({.first = first, .count = count, .unit = unit, .kept = {.bytes = 10}, .forward_s = 1});
      all.back().backward_s = 2;
      first += count;
    }
    return all;
  }

 protected:
  std::string_view kind() const override { return "unlike units"; }
};

}  // namespace

// A unit's gradient is in memory from its first backward pass until it is reduced, so that all gradients are there from
// the end of the first micro-batch to the last one's backward pass. Of two micro-batches the largest sum is that of the
// last forward pass through the first unit, beside which the second one is gathered; of three it is that of the second
// one's backward pass through the second unit, beside which the first one is. In the first micro-batch's backward pass
// through the second unit the gradient of the first one is not there.
TEST_CASE("with no_sync each unit's gradient is in memory from its first backward pass on") {
  auto once = fsdp(2, true);
  once->no_sync = true;
  auto stage3 = zero(3);
  stage3->no_sync = true;
  const auto model = std::make_shared<UnlikeUnits>();
  for (const std::int64_t micro_batches : {2, 3}) {
    once->micro_batches = stage3->micro_batches = micro_batches;
    for (const std::shared_ptr<const strategies::Strategy>& strategy :
         std::vector<std::shared_ptr<const strategies::Strategy>>{once, stage3}) {
      CAPTURE(micro_batches, strategy == stage3);
      MeshTrial trial{.model = model, .problem = *model->own_problem(), .strategy = strategy};
      trial.workers = 4;
      trial.rows = trial.batch = 4 * micro_batches;
      trial.training.numbers = false;
      const double kept = micro_batches == 2 ? 10.0 : 20.0;
      const double bytes = 8 * (2000 / 4 + 2000 + 1300) + kept;
      CHECK(held(trial) == Approx(bytes).epsilon(1e-9));
      CHECK(by_formula(trial) == Approx(bytes).epsilon(1e-9));
    }
  }
}

// Forwards and backwards the matrix is gathered for the embedding and for the head, tied or not. Where the head has its
// own, that one's gradient is reduced, too: (P-1)/P of its bytes leave each rank. The head's other parameters travel in
// the same format, whether the matrix goes with them or is one of them.
TEST_CASE("a tied embedding is gathered for the head, too, and its gradient is reduced once") {
  using training::Precision;
  for (const auto& [precision, number_bytes] : {std::pair{Precision::float64, 8}, {Precision::bfloat16, 2}})
    for (const int t : {1, 2})
      for (const int data : {2, 4})
        for (const std::int64_t limit : {1, 2, 3}) {
          CAPTURE(number_bytes, t, data, limit);
          const auto bytes = [&](bool tied, bool reshard_after_forward) {
            MeshTrial trial = large_head(fsdp(limit, reshard_after_forward), data, "sgd", tied, t);
            trial.training.precision = precision;
            trial.steps = 1;
            return bytes_sent(trial);
          };
          const double matrix = number_bytes * long_vocabulary * h * (data - 1);
          CHECK(bytes(false, true) - bytes(true, true) == matrix);
          // Units that stay are gathered once, so that the matrix is gathered once and not twice.
          CHECK(bytes(false, false) - bytes(true, false) == 2 * matrix);
        }
}

TEST_CASE("the formula of a cut model whose units are gathered is what its fullest rank holds, within 1 %") {
  // A shard is rounded up once in the formula, and unit by unit in a run.
  const std::vector<MeshCase> cases{
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
      {.name = "micro-batches alone", .micro_batches = 4, .data = 4},
      {.name = "one micro-batch of tensor ranks", .tensor = 2, .data = 2},
      {.name = "one micro-batch of stages", .pipeline = 2, .data = 2, .schedule = "gpipe"}};
  auto alone = fsdp(2, true);
  alone->shard_group = 1;
  auto together = fsdp(2, true);
  together->no_sync = true;  // of a mesh's micro-batches
  Share share(2);
  for (const bool tied : {false, true})
    for (const MeshCase& mesh_case : cases)
      for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full})
        for (const auto& strategy : {fsdp(2, true), fsdp(4, true), fsdp(2, false), alone, together}) {
          if (!share.next()) continue;
          CAPTURE(mesh_case.name, recompute, strategy->limit, strategy->reshard_after_forward, tied);
          const MeshTrial trial = trial_of(mesh_case, strategy, recompute, tied);
          CHECK(by_formula(trial) == Approx(held(trial)).epsilon(0.01));
        }
}

}  // namespace mesh_memory_test
