// Small transformers on a mesh whose memory can be counted by hand: one with a head so large that its rank is fullest
// at the head's backward pass.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "strategies/mesh_trial.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"

namespace simgrad::tests::counted {

using training::Recompute;

struct MeshCase {
  std::string name;
  std::int64_t tensor = 1, pipeline = 1, micro_batches = 1, chunks = 1;
  int data = 1;
  const char* schedule = "1f1b";
  bool sequence_parallel = false;
  std::int64_t context = 1, expert = 1;
};

inline std::shared_ptr<strategies::Zero> zero(std::int64_t stage) {
  auto zero = std::make_shared<strategies::Zero>();
  zero->stage = stage;
  zero->bucket_bytes = {};
  return zero;
}

/// Replicas whose gradients are summed all at once, without copies in buckets.
inline std::shared_ptr<strategies::Allreduce> replicas_at_once() {
  auto strategy = around_a_ring<strategies::Allreduce>();
  strategy->bucket_bytes = {};
  return strategy;
}

inline std::shared_ptr<strategies::Fsdp> fsdp(std::int64_t limit, bool reshard_after_forward) {
  auto fsdp = std::make_shared<strategies::Fsdp>();
  fsdp->limit = limit;
  fsdp->reshard_after_forward = reshard_after_forward;
  return fsdp;
}

inline MeshTrial trial_of(const MeshCase& mesh_case, std::shared_ptr<const strategies::Strategy> strategy,
                          Recompute recompute, bool tied = false) {
  MeshTrial trial = mesh_case.expert > 1 ? experts_trial(6, tied) : transformer_trial(6, tied);
  trial.data = {};
  trial.rows = trial.batch = 96;
  trial.strategy = std::move(strategy);
  trial.parallel.tensor = mesh_case.tensor;
  trial.parallel.pipeline = mesh_case.pipeline;
  trial.parallel.micro_batches = mesh_case.micro_batches;
  trial.parallel.chunks = mesh_case.chunks;
  trial.parallel.schedule.choose(mesh_case.schedule);
  trial.parallel.sequence_parallel = mesh_case.sequence_parallel;
  trial.parallel.context = mesh_case.context;
  trial.parallel.expert = mesh_case.expert;
  trial.workers = mesh_case.data * static_cast<int>(trial.parallel.ranks_a_replica());
  trial.training.numbers = false;
  trial.steps = 2 * mesh_case.pipeline;  // an asynchronous pipeline fills over several
  trial.training.optimizer.choose("adam");
  trial.training.recompute = recompute;
  return trial;
}

inline double by_formula(const MeshTrial& trial) {
  return strategies::on_mesh(trial.strategy, trial.parallel)->memory(memory_terms(trial)).sum();
}

/// The bytes of all messages that the trial's ranks send.
inline double bytes_sent(const MeshTrial& trial) {
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  double sum = 0.0;
  for (const record::RankUse& use : record.ranks) sum += static_cast<double>(use.bytes_sent);
  return sum;
}

inline double held(const MeshTrial& trial) { return peak_memory(trial.run().record); }

// The transformers of these tests: tokens of a sequence, width, heads, width of the feed-forward part.
constexpr double s = 8.0, h = 16.0, a = 4.0, f = 24.0;
/// Weights and biases: queries, keys and values, the projection, the feed-forward part and two norms.
constexpr double block_parameters = (3 * h * h + 3 * h) + (h * h + h) + (h * f + f) + (f * h + h) + 4 * h;
/// Numbers of a sequence that a block keeps: both norms' inputs and results, queries, keys and values, the softmax, the
/// projection's input, and the feed-forward part before and after its activation.
constexpr double block_kept = 8 * s * h + a * s * s + 2 * s * f;

/// The parameters of a block that one of t tensor ranks has: norms, and biases behind sums, are whole on each of them.
inline double block_parameters_of(double t) { return (block_parameters - 6 * h) / t + 6 * h; }
/// The numbers that such a rank keeps: the inputs and results of both norms are whole (Korthikanti et al., section 4).
inline double block_kept_of(double t) { return 4 * s * h + (block_kept - 4 * s * h) / t; }

constexpr double long_vocabulary = 1000.0;
/// The matrix and the norm before it.
inline double head_parameters(double t) { return long_vocabulary * h / t + 2 * h; }

/// Two blocks between an embedding and a head that are far larger, so that a rank is fullest at the head's backward
/// pass. Each replica has 8 sequences, and t ranks.
inline MeshTrial large_head(std::shared_ptr<const strategies::Strategy> strategy, int data, const char* optimizer,
                            bool tied, int t) {
  MeshTrial trial = trial_of({.name = "large head", .tensor = t, .data = data}, std::move(strategy), Recompute::none);
  trial.model = transformer_trial(2, tied).model;
  trial.problem.vocabulary = static_cast<std::int64_t>(long_vocabulary);
  trial.rows = trial.batch = 8 * data;
  trial.training.optimizer.choose(optimizer);
  return trial;
}

inline double parameters_of_large_head(bool tied, double t) {
  return (long_vocabulary / t + s) * h + 2 * block_parameters_of(t) + 2 * h + (tied ? 0.0 : long_vocabulary * h / t);
}

/// The numbers that are in memory in the backward pass through the head: of both blocks, of the last norm, and the
/// logits and their gradient, which take four bytes each.
inline double kept_at_large_head(double t) {
  return 8 * (2 * block_kept_of(t) + 2 * s * h + s * long_vocabulary / t * (4 + 4) / 8);
}

inline void check_both(const MeshTrial& trial, double numbers) {
  CHECK(held(trial) / 8.0 == Approx(numbers).epsilon(1e-9));
  CHECK(by_formula(trial) / 8.0 == Approx(numbers).epsilon(1e-9));
}

}  // namespace simgrad::tests::counted
