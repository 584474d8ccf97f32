/// 1F1B with a backward in two parts: the gradients of the weights, for which no other stage waits, fill the bubble.
///
/// With a lead of a micro-batches a stage, stage i does a (p - i - 1) + 1 forwards, then in turn an input backward, a
/// weight backward and a forward. Its weight backwards begin a i micro-batches late, so that every stage holds the
/// activations of the same number of micro-batches, a (p - 1) + 1; those that are left stand at the end.
///
/// Source: P. Qi, X. Wan, G. Huang, M. Lin, Zero Bubble Pipeline Parallelism, ICLR 2024, section 2 and figures 2 and 3.
#pragma once

#include "strategies/parallel/schedules/schedule.h"

namespace simgrad::strategies {

/// a = 1: the memory of 1F1B, a third of its bubble where F = B = W.
struct ZbH1 : PipelineSchedule {
  static constexpr base::About about{
      .kind = "zb_h1",
      .summary =
          "1F1B whose backward is split: the gradients of the weights are computed later, while a stage would wait",
      .cost =
          "m (F + B + W) + (p - 1)(F + B - W) + 4 (p - 1) hops where W is at most F and B, and 2 p micro-batches or "
          "more; p micro-batches in flight; what is recomputed stays until the gradients of the weights",
      .source = "P. Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024"};
  PipelineTable table(const PipelineShape& shape) const override;
  bool splits_backward() const override { return true; }
};

/// a = 2: no bubble where F = B = W, if a stage begins its next step without waiting for the others.
struct ZbH2 : PipelineSchedule {
  static constexpr base::About about{
      .kind = "zb_h2",
      .summary =
          "zb_h1 with nearly twice the micro-batches under way, and no bubble where F = B = W and no stage waits "
          "for the others at the end of a step",
      .cost =
          "m (F + B + W) + (p - 1)(F + B - 2 W) + 2 (p - 1) hops from one step to the next where W is at most F and "
          "B, and 2 p micro-batches or more; 2 p - 1 micro-batches in flight; what is recomputed stays, as in zb_h1",
      .source = "P. Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024"};
  PipelineTable table(const PipelineShape& shape) const override;
  bool splits_backward() const override { return true; }
};

}  // namespace simgrad::strategies
