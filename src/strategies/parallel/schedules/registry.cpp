#include <fmt/format.h>

#include "strategies/parallel/schedules/fill_and_drain.h"
#include "strategies/parallel/schedules/one_forward_one_backward.h"
#include "strategies/parallel/schedules/zero_bubble.h"

namespace simgrad::strategies {

const base::Registry<PipelineSchedule>& pipeline_schedules() {
  static const base::Registry<PipelineSchedule> table({
      base::entry<PipelineSchedule, NaivePipeline>(),
      base::entry<PipelineSchedule, Gpipe>(),
      base::entry<PipelineSchedule, OneForwardOneBackward>(),
      base::entry<PipelineSchedule, Interleaved>(),
      base::entry<PipelineSchedule, ZbH1>(),
      base::entry<PipelineSchedule, ZbH2>(),
      base::entry<PipelineSchedule, PipeDream>(),
      base::entry<PipelineSchedule, PipeDream2bw>(),
  });
  return table;
}

std::string PipelineSchedule::refusal(const PipelineShape& shape) const {
  if (shape.chunks == 1) return {};
  return fmt::format("a stage has one chunk of layers here, but chunks is {}; take 1, or interleaved_1f1b",
                     shape.chunks);
}

}  // namespace simgrad::strategies
