#include "strategies/parallel/stage_tables.h"

#include <algorithm>

namespace simgrad::strategies {

namespace {

/// The table of one stage: every micro-batch forward and back.
PipelineTable one_stage(int micro_batches) {
  PipelineTable table(1);
  for (int micro = 0; micro < micro_batches; ++micro) {
    table.front().push_back({Piece::forward, micro, 0});
    table.front().push_back({Piece::backward, micro, 0});
  }
  return table;
}

}  // namespace

int enough_of_stream(const PipelineShape& shape) {
  int most = shape.stages;
  for (int stage = 0; stage < shape.stages; ++stage) most = std::max(most, shape.under_way(stage));
  return 2 * most;
}

PipelineTable table_of(const Parallel& parallel) {
  if (parallel.pipeline == 1) return one_stage(static_cast<int>(parallel.micro_batch_count()));
  PipelineShape shape = parallel.shape();
  if (parallel.schedule->asynchronous()) shape.micro_batches = enough_of_stream(shape);
  return parallel.schedule->table(shape);
}

std::int64_t enough_micro_batches(const Parallel& parallel) {
  const std::int64_t all = parallel.micro_batch_count(), stages = parallel.pipeline;
  if (stages == 1 || parallel.schedule.kind() == "naive") return std::min<std::int64_t>(all, 3);
  if (parallel.schedule.kind() == "1f1b") return std::min(all, 2 * stages);
  const bool interleaved = parallel.schedule.kind() == "interleaved_1f1b";
  return interleaved && all % stages == 0 ? std::min(all, 3 * stages) : all;
}

PipelineTable table_for_memory(const Parallel& parallel) {
  Parallel enough = parallel;
  enough.micro_batches = enough_micro_batches(parallel);
  return table_of(enough);
}

}  // namespace simgrad::strategies
