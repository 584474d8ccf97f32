/// Pipelines whose stages alternate between a forward and a backward: 1F1B, its interleaved form, PipeDream.
#pragma once

#include "strategies/parallel/schedules/schedule.h"

namespace simgrad::strategies {

/// Stage i does p - i - 1 forwards, then one forward and one backward in turn, then the backwards that are left.
struct OneForwardOneBackward : PipelineSchedule {
  static constexpr base::About about{
      .kind = "1f1b",
      .summary = "each stage does a forward and a backward in turn, once enough micro-batches are under way",
      .cost =
          "(m + p - 1)(F + B + W) + (2 (p - 1)(m / p + 1) - 2) hops where p > 1 divides m; stage i has p - i "
          "micro-batches in flight",
      .source = "D. Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training (PipeDream-Flush), ICML 2021"};
  PipelineTable table(const PipelineShape& shape) const override;
};

/// 1F1B on several chunks a stage: a stage goes through its chunks with p micro-batches each, and comes back to the
/// first chunk with the next p. Stage i begins with 2 (p - i - 1) + (v - 1) p forwards.
///
/// Source: D. Narayanan et al., SC 2021, section 2.2.2, and Megatron-LM's order.
struct Interleaved : PipelineSchedule {
  static constexpr base::About about{
      .kind = "interleaved_1f1b",
      .summary = "1F1B on several chunks of layers a stage, each with p micro-batches at a time",
      .cost =
          "m (F + B + W) + (p - 1)(F + B + W) / v + 2 (p v - 1) hops where these are short; the first stage has "
          "p v + p - 1 chunks in flight",
      .source =
          "D. Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, "
          "SC 2021"};
  PipelineTable table(const PipelineShape& shape) const override;
  std::string refusal(const PipelineShape& shape) const override;
};

/// 1F1B over all micro-batches of the training, without an end of a step: a stage updates its weights behind each
/// backward. Each micro-batch goes forward and backward with the same weights, so that a stage keeps ("stashes") one
/// version a micro-batch in flight. The gradient of stage i is p - i - 1 updates old. Stages may have unlike numbers of
/// replicas (parallel.stage_replicas), to which micro-batches go in turn.
struct PipeDream : OneForwardOneBackward {
  static constexpr base::About about{
      .kind = "pipedream",
      .summary =
          "1F1B without an end of the step: a stage updates behind each backward, and keeps the weights of each "
          "micro-batch under way",
      .cost =
          "F + B + W a micro-batch, of r replicas (F + B + W) / r; a rank of stage i has p - i micro-batches in flight "
          "and p - i versions of its weights, or R / r, rounded up, with R ranks from this stage on and r in it",
      .source = "D. Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP 2019"};
  bool asynchronous() const override { return true; }
  int weight_versions(const PipelineShape& shape, int stage) const override;
};

/// PipeDream with an update behind every m micro-batches, m at least p: two versions of the weights are enough, and
/// each gradient is one update old on all stages, w(t + 1) = w(t) - lr grad(w(t - 1)).
struct PipeDream2bw : OneForwardOneBackward {
  static constexpr base::About about{
      .kind = "pipedream_2bw",
      .summary =
          "1F1B without an end of the step: a stage updates behind every m micro-batches (p or more), and keeps "
          "two versions of its weights",
      .cost = "m (F + B + W) an update; stage i has p - i micro-batches in flight and 2 versions of its weights",
      .source = "D. Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021"};
  bool asynchronous() const override { return true; }
  int weight_versions(const PipelineShape&, int) const override { return 2; }
};

}  // namespace simgrad::strategies
