#include "strategies/parallel/mesh_memory.h"

#include <algorithm>

#include "models/model_part.h"
#include "strategies/parallel/stages.h"
#include "training/memory/pass_memory.h"

namespace simgrad::strategies {

using record::MemoryPart;
using record::MemoryParts;

namespace {

/// Bytes that each micro-batch keeps on a chunk of average size.
double kept_by_chunk(const training::MemoryTerms& part, int chunks) {
  double bytes = 0.0;
  for (std::size_t i = 0; i < part.layers.size(); ++i)
    bytes += training::kept_bytes(part.layers, i, part.recompute, part.bytes);
  return bytes * static_cast<double>(part.rows) / chunks;
}

}  // namespace

MemoryParts largest_part(const Strategy& strategy, const Parallel& parallel, const PipelineTable& table,
                         const training::MemoryTerms& terms) {
  const PipelineShape shape = parallel.shape();
  const std::vector<std::vector<models::Chunk>> chunks = chunks_of_parts(parallel, terms.layers);
  const std::shared_ptr<const models::Model> whole(std::shared_ptr<const void>(), terms.model);
  PipelineShape stream = shape;
  stream.micro_batches = 2 * shape.stages;  // enough for all versions that a stage can have
  MemoryParts largest;
  for (std::size_t part = 0; part < chunks.size(); part += static_cast<std::size_t>(parallel.tensor)) {
    training::MemoryTerms its = terms;
    its.layers = models::ModelPart(whole, *terms.problem, chunks[part]).layers(*terms.problem);
    its.workers = terms.workers / parallel.ranks_a_replica();
    its.rows = terms.rows / shape.micro_batches;
    its.accumulates = shape.micro_batches > 1;
    MemoryParts parts = strategy.memory(its);
    const int stage = static_cast<int>(part) / static_cast<int>(parallel.tensor);
    const double others =
        in_flight(table, stage) - shape.chunks;  // a micro-batch on all chunks is in the parts already
    parts[MemoryPart::activations] += std::max(others, 0.0) * kept_by_chunk(its, shape.chunks);
    const int versions = parallel.pipeline > 1 ? parallel.schedule->weight_versions(stream, stage) : 1;
    parts[MemoryPart::workspace] += (versions - 1) * its.parameters() * its.bytes.parameter;
    if (parts.sum() > largest.sum()) largest = parts;
  }
  return largest;
}

PipelineTable one_stage(int micro_batches) {
  PipelineTable table(1);
  for (int micro = 0; micro < micro_batches; ++micro) {
    table.front().push_back({Piece::forward, micro, 0});
    table.front().push_back({Piece::backward, micro, 0});
  }
  return table;
}

}  // namespace simgrad::strategies
