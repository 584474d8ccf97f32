#include "strategies/parallel/schedules/fill_and_drain.h"

namespace simgrad::strategies {

PipelineTable NaivePipeline::table(const PipelineShape& shape) const {
  std::vector<PipelineTask> tasks;
  for (int micro = 0; micro < shape.micro_batches; ++micro) {
    tasks.push_back({Piece::forward, micro});
    tasks.push_back({Piece::backward, micro});
  }
  return PipelineTable(static_cast<std::size_t>(shape.stages), tasks);
}

PipelineTable Gpipe::table(const PipelineShape& shape) const {
  std::vector<PipelineTask> tasks;
  for (int micro = 0; micro < shape.micro_batches; ++micro) tasks.push_back({Piece::forward, micro});
  for (int micro = 0; micro < shape.micro_batches; ++micro) tasks.push_back({Piece::backward, micro});
  return PipelineTable(static_cast<std::size_t>(shape.stages), tasks);
}

}  // namespace simgrad::strategies
