#include "strategies/parallel/schedules/zero_bubble.h"

#include <algorithm>

namespace simgrad::strategies {

namespace {

/// lead: by how many micro-batches a stage is ahead of the next one.
PipelineTable split_backwards(const PipelineShape& shape, int lead) {
  const int m = shape.micro_batches;
  PipelineTable all;
  for (int i = 0; i < shape.stages; ++i) {
    std::vector<PipelineTask>& tasks = all.emplace_back();
    const int ahead = std::min(m, lead * (shape.stages - i - 1) + 1);
    const int late = std::min(m, lead * i);
    for (int k = 0; k < ahead; ++k) tasks.push_back({Piece::forward, k});
    for (int k = 0; k < m; ++k) {
      tasks.push_back({Piece::input_backward, k});
      if (k >= late) tasks.push_back({Piece::weight_backward, k - late});
      if (k + ahead < m) tasks.push_back({Piece::forward, k + ahead});
    }
    for (int k = m - late; k < m; ++k) tasks.push_back({Piece::weight_backward, k});
  }
  return all;
}

}  // namespace

PipelineTable ZbH1::table(const PipelineShape& shape) const { return split_backwards(shape, 1); }

PipelineTable ZbH2::table(const PipelineShape& shape) const { return split_backwards(shape, 2); }

}  // namespace simgrad::strategies
