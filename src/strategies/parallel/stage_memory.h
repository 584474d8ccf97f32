/// The memory of a rank that holds some chunks of a model; mesh_memory.h has its sources.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "strategies/parallel/parallel.h"
#include "strategies/parallel/stage_tables.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

class StageMemory {
 public:
  /// terms: of the whole model and all ranks.  All three outlive it.
  StageMemory(const Strategy& strategy, const Parallel& parallel, const training::MemoryTerms& terms);

  /// The memory of a rank of the stage, with these chunks.
  record::MemoryParts of(int stage, const std::vector<models::Chunk>& chunks) const;
  /// With these units, and equal shares.
  record::MemoryParts of_units(int stage, std::int64_t first, std::int64_t end) const;
  /// By stage and tensor rank, of a cut; of one tensor rank where shares are equal.
  std::vector<std::vector<record::MemoryParts>> of_tensor_ranks(
      const std::vector<std::vector<models::Chunk>>& chunks) const;

 private:
  double state_bytes(const std::vector<models::Chunk>& chunks) const;

  const Strategy& strategy_;
  const Parallel& parallel_;
  PipelineTable table_;
  int micro_batches_;
  std::int64_t units_;
  training::MemoryTerms terms_;
  std::int64_t rows_of_step_ = 0;
  std::shared_ptr<const models::Model> whole_;
};

}  // namespace simgrad::strategies
