#include "strategies/parallel/mesh_memory.h"

#include <algorithm>

#include "models/model_part.h"
#include "strategies/parallel/memory_balance.h"
#include "strategies/parallel/stage_walk.h"
#include "strategies/parallel/stages.h"

namespace simgrad::strategies {

using record::MemoryPart;
using record::MemoryParts;

std::vector<std::vector<models::Chunk>> chunks_of_parts(const Strategy& strategy, const Parallel& parallel,
                                                        const PipelineTable& table,
                                                        const training::MemoryTerms& terms) {
  const bool by_memory = parallel.balance == Balance::memory && parallel.stages.empty() && parallel.pipeline > 1;
  return chunks_of_parts(parallel, by_memory ? balanced_by_memory(unit_memory(strategy, parallel, table, terms),
                                                                  costs_of_units(terms.layers))
                                             : firsts_of_pieces(parallel, terms.layers));
}

MemoryParts largest_part(const Strategy& strategy, const Parallel& parallel, const PipelineTable& table,
                         const training::MemoryTerms& terms) {
  const PipelineShape shape = parallel.shape();
  const std::vector<std::vector<models::Chunk>> chunks = chunks_of_parts(strategy, parallel, table, terms);
  const std::shared_ptr<const models::Model> whole(std::shared_ptr<const void>(), terms.model);
  PipelineShape stream = shape;
  stream.micro_batches = 2 * shape.stages;  // enough for all versions that a stage can have
  MemoryParts largest;
  const std::size_t ranks_a_stage = chunks.size() / static_cast<std::size_t>(parallel.pipeline);
  for (std::size_t part = 0; part < chunks.size(); part += ranks_a_stage) {
    training::MemoryTerms its = terms;
    const models::ModelPart model(whole, *terms.problem, chunks[part]);
    its.layers = model.layers(*terms.problem);
    its.workers = terms.workers / parallel.ranks_a_replica();
    const std::int64_t micro_batches = its.workers * shape.micro_batches * parallel.expert;
    its.rows = (terms.batch + micro_batches - 1) / micro_batches;
    const int stage = static_cast<int>(part / ranks_a_stage);
    const training::MeshPasses passes =
        StageWalk(model, its).passes(table[static_cast<std::size_t>(stage)], shape.micro_batches);
    its.mesh = &passes;
    MemoryParts parts = strategy.memory(its);
    const int versions = parallel.pipeline > 1 ? parallel.schedule->weight_versions(stream, stage) : 1;
    parts[MemoryPart::workspace] += (versions - 1) * its.parameters() * its.bytes.parameter;
    if (parts.sum() > largest.sum()) largest = parts;
  }
  return largest;
}

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

PipelineTable table_of(const Parallel& parallel) {
  if (parallel.pipeline == 1) return one_stage(static_cast<int>(parallel.micro_batch_count()));
  PipelineShape shape = parallel.shape();
  if (parallel.schedule->asynchronous()) shape.micro_batches = 2 * shape.stages;
  return parallel.schedule->table(shape);
}

}  // namespace simgrad::strategies
