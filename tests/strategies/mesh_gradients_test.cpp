// Gradients of a mesh's ranks: whether micro-batches are reduced one by one, and the format in which they are in
// memory.
#include "strategies/counted_memory.h"

namespace mesh_gradients_test {

using namespace simgrad;
using namespace simgrad::tests;
using namespace simgrad::tests::counted;

// FSDP reduces each unit's gradient behind its backward pass, in every micro-batch (PyTorch's fully_shard, unless
// set_requires_gradient_sync(False) holds it back, as in PyTorch's pipeline stages). As the second micro-batch's
// gradient of the head is made, the shards of the first one are in memory.
TEST_CASE("on a mesh every micro-batch is reduced by itself, or all of them together with no_sync") {
  for (const bool tied : {false, true})
    for (const int t : {1, 2})
      for (const int data : {2, 4})
        for (const auto& [optimizer, vectors] : {std::pair{"sgd", 0}, {"adam", 2}})
          for (const bool no_sync : {false, true}) {
            CAPTURE(tied, t, data, optimizer, no_sync);
            auto strategy = fsdp(1, true);
            strategy->no_sync = no_sync;
            MeshTrial trial = large_head(strategy, data, optimizer, tied, t);
            trial.parallel.micro_batches = 2;
            const double D = parameters_of_large_head(tied, t), H = head_parameters(t);
            const double gradients = no_sync ? D : D / data + H;
            check_both(trial, (1 + vectors) * D / data + H + gradients + kept_at_large_head(t) / 2);
          }
}

namespace {

/// In bfloat16, where a head's gradient and all activations are in memory at once.
MeshTrial in_bfloat16(std::shared_ptr<const strategies::Strategy> strategy, int data, int t,
                      training::GradientPrecision gradients) {
  MeshTrial trial = large_head(std::move(strategy), data, "adam", false, t);
  trial.training.precision = training::Precision::bfloat16;
  trial.training.gradient_precision = gradients;
  return trial;
}

}  // namespace

// megatron/training/theoretical_memory_usage.py: 18 bytes a parameter, or 6 + 12 / dp with the distributed optimizer.
// Activations take two bytes a number, and logits and their gradient four.
TEST_CASE("a rank of a mesh in bfloat16 holds a gradient of four bytes a parameter from the beginning on") {
  using training::GradientPrecision;
  auto in_buckets = around_a_ring<strategies::Allreduce>();
  auto stage1 = std::make_shared<strategies::Zero>();
  for (const int t : {1, 2})
    for (const int data : {2, 4}) {
      CAPTURE(t, data);
      const double D = parameters_of_large_head(false, t), V = long_vocabulary;
      const double activations = 8 * (2 * (2 * block_kept_of(t) + 2 * s * h) + (4 + 4) * s * V / t);
      const auto check_bytes = [&](const MeshTrial& trial, double bytes) {
        CHECK(held(trial) == Approx(bytes).epsilon(1e-9));
        CHECK(by_formula(trial) == Approx(bytes).epsilon(1e-9));
      };
      for (const auto gradients : {GradientPrecision::framework, GradientPrecision::float32}) {
        if (t == 1 && gradients == GradientPrecision::framework) continue;  // replicas of PyTorch's DDP
        check_bytes(in_bfloat16(replicas_at_once(), data, t, gradients), 18 * D + activations);
        check_bytes(in_bfloat16(in_buckets, data, t, gradients), 18 * D + activations);
      }
      check_bytes(in_bfloat16(zero(1), data, t, GradientPrecision::framework), (6 + 12.0 / data) * D + activations);
      check_bytes(in_bfloat16(stage1, data, t, GradientPrecision::framework), (6 + 12.0 / data) * D + activations);
      // As the passes make it: that of the head alone is there.
      check_bytes(in_bfloat16(replicas_at_once(), data, t, GradientPrecision::as_made),
                  14 * D + 2 * head_parameters(t) + activations);
    }
}

TEST_CASE("the formula of memory in bfloat16 is what the fullest rank holds, whatever gradient_precision says") {
  using training::GradientPrecision;
  const std::vector<MeshCase> cases{
      {.name = "1f1b", .pipeline = 4, .micro_batches = 8, .data = 2},
      {.name = "zb_h1", .pipeline = 4, .micro_batches = 8, .data = 2, .schedule = "zb_h1"},
      {.name = "tensor", .tensor = 4, .micro_batches = 2, .data = 2},
      {.name = "tensor alone", .tensor = 2, .data = 2},
      {.name = "replicas", .data = 4}};
  auto once = fsdp(2, true);
  once->no_sync = true;
  auto stage2 = std::make_shared<strategies::Zero>();
  stage2->stage = 2;
  const std::vector<std::shared_ptr<const strategies::Strategy>> all{around_a_ring<strategies::Allreduce>(),
                                                                     replicas_at_once(),
                                                                     zero(1),
                                                                     std::make_shared<strategies::Zero>(),
                                                                     zero(2),
                                                                     stage2,
                                                                     zero(3),
                                                                     fsdp(2, true),
                                                                     once};
  for (const MeshCase& mesh_case : cases) {
    once->micro_batches = mesh_case.name == "replicas" ? 2 : 1;  // a mesh has its own
    for (std::size_t strategy = 0; strategy < all.size(); ++strategy)
      for (const auto gradients :
           {GradientPrecision::framework, GradientPrecision::as_made, GradientPrecision::float32}) {
        CAPTURE(mesh_case.name, strategy, static_cast<int>(gradients));
        MeshTrial trial = trial_of(mesh_case, all[strategy], Recompute::none);
        trial.training.precision = training::Precision::bfloat16;
        trial.training.gradient_precision = gradients;
        CHECK(by_formula(trial) == Approx(held(trial)).epsilon(0.01));
      }
  }
}

// A micro-batch gathers and reduces all units, so that two send twice the bytes; with no_sync the first one's gradient
// stays, of which (P-1)/P would leave each rank.
TEST_CASE("on a mesh every micro-batch sends its gradients, or the last one alone with no_sync") {
  for (const int data : {2, 4}) {
    const auto bytes = [&](std::int64_t micro_batches, bool no_sync) {
      auto strategy = fsdp(1, true);
      strategy->no_sync = no_sync;
      MeshTrial trial = large_head(strategy, data, "sgd", false, 1);
      trial.parallel.micro_batches = micro_batches;
      trial.steps = 1;
      return bytes_sent(trial);
    };
    CAPTURE(data);
    CHECK(bytes(2, false) == 2 * bytes(1, false));
    CHECK(bytes(2, false) - bytes(2, true) == 8 * parameters_of_large_head(false, 1) * (data - 1));
  }
}

}  // namespace mesh_gradients_test
