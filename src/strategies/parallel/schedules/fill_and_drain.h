/// Pipelines whose forwards are all done before the first backward, of one micro-batch or of all.
#pragma once

#include "strategies/parallel/schedules/schedule.h"

namespace simgrad::strategies {

/// One micro-batch after the other through all stages, forward and backward: one stage works at a time.
struct NaivePipeline : PipelineSchedule {
  static constexpr base::About about{
      .kind = "naive",
      .summary =
          "one micro-batch after the other goes forward and backward through all stages; one stage works at a time",
      .cost = "p m (F + B + W) + 2 m (p - 1) hops; 1 micro-batch in flight",
      .source = ""};
  PipelineTable table(const PipelineShape& shape) const override;
};

/// All forwards, then all backwards. Backwards begin with micro-batch 0, so that gradients are summed in the order of
/// the micro-batches; the paper's picture begins with the last one, which takes as long.
struct Gpipe : PipelineSchedule {
  static constexpr base::About about{
      .kind = "gpipe",
      .summary = "the forwards of all micro-batches, then their backwards",
      .cost = "(m + p - 1)(F + B + W) + 2 (p - 1) hops; m micro-batches in flight",
      .source =
          "Y. Huang et al., GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism, "
          "NeurIPS 2019"};
  PipelineTable table(const PipelineShape& shape) const override;
};

}  // namespace simgrad::strategies
