#include "strategies/parallel/stage_memory.h"

#include <algorithm>

#include "models/model_part.h"
#include "strategies/parallel/on_mesh.h"
#include "strategies/parallel/slice_cache.h"
#include "strategies/parallel/stage_walk.h"

namespace simgrad::strategies {

using record::MemoryPart;
using record::MemoryParts;
using training::Dimension;

StageMemory::StageMemory(const Strategy& strategy, const Parallel& parallel, const training::MemoryTerms& terms)
    : strategy_(strategy),
      parallel_(parallel),
      table_(table_for_memory(parallel)),
      micro_batches_(static_cast<int>(enough_micro_batches(parallel))),
      units_(terms.layers.back().unit + 1),
      terms_(terms),
      whole_(std::shared_ptr<const void>(), terms.model) {
  terms_.layers.clear();
  const std::int64_t replicas = parallel.shares_of_batch(terms.workers);
  const Traits traits = traits_on_mesh(strategy, parallel, terms.workers);
  terms_.workers = parallel.workers(terms.workers, traits);
  const std::int64_t micro_batches = replicas * parallel.micro_batch_count() * parallel.expert;
  terms_.rows = (terms.batch + micro_batches - 1) / micro_batches;
  rows_of_step_ = (terms.batch + replicas - 1) / replicas;
}

MemoryParts StageMemory::of(int stage, const std::vector<models::Chunk>& chunks) const {
  training::MemoryTerms stage_terms = terms_;
  const models::ModelPart model(whole_, *terms_.problem, chunks, units_);
  stage_terms.layers = model.layers(*terms_.problem);
  const PipelineShape shape = parallel_.shape();
  const training::MeshPasses passes =
      StageWalk(model, stage_terms, parallel_.pipeline > 1 ? model.tied() : models::ParameterStretch())
          .passes(table_[static_cast<std::size_t>(stage)], micro_batches_);
  stage_terms.mesh = &passes;
  MemoryParts parts = strategy_.memory(stage_terms);
  PipelineShape stream = shape;
  stream.micro_batches = enough_of_stream(shape);  // and for all versions that a stage can have
  const int versions = parallel_.pipeline > 1 ? parallel_.schedule->weight_versions(stream, stage) : 1;
  parts[MemoryPart::workspace] += (versions - 1) * stage_terms.parameters() * stage_terms.bytes.parameter;
  parts[MemoryPart::workspace] += bytes_kept(model, parallel_.slices(), terms_, rows_of_step_);
  return parts;
}

MemoryParts StageMemory::of_units(int stage, std::int64_t first, std::int64_t end) const {
  const models::Shares shares = parallel_.shares();
  return of(stage, {{.first_unit = first,
                     .end_unit = end,
                     .tensor = shares.tensor,
                     .sequence_parallel = shares.sequence_parallel,
                     .context = shares.context,
                     .expert = shares.expert}});
}

std::vector<std::vector<MemoryParts>> StageMemory::of_tensor_ranks(
    const std::vector<std::vector<models::Chunk>>& chunks) const {
  const training::Mesh replica = parallel_.mesh(parallel_.ranks_a_replica());
  const auto stages = static_cast<std::size_t>(parallel_.pipeline);
  std::vector<std::vector<const std::vector<models::Chunk>*>> held(stages);  // by stage and tensor rank
  for (std::size_t part = 0; part < chunks.size(); ++part) {
    const training::MeshPlace place = replica.place_of_part(static_cast<int>(part));
    auto& stage_chunks = held[static_cast<std::size_t>(place[Dimension::pipeline])];
    const bool another = stage_chunks.empty() || !chunks[part].front().tensor_weights.empty();
    if (another && place[Dimension::tensor] == static_cast<int>(stage_chunks.size()))
      stage_chunks.push_back(&chunks[part]);
  }
  std::vector<std::vector<MemoryParts>> all(stages);
  for (std::size_t stage = 0; stage < stages; ++stage)
    for (std::size_t rank = 0; rank < held[stage].size(); ++rank) {
      MemoryParts& parts = all[stage].emplace_back(of(static_cast<int>(stage), *held[stage][rank]));
      if (copies_next_stage(parallel_)) parts[MemoryPart::workspace] += state_bytes(*held[(stage + 1) % stages][rank]);
    }
  return all;
}

/// The state that one rank has of these chunks.
double StageMemory::state_bytes(const std::vector<models::Chunk>& chunks) const {
  training::MemoryTerms stage_terms = terms_;
  stage_terms.layers = models::ModelPart(whole_, *terms_.problem, chunks, units_).layers(*terms_.problem);
  const int shards = std::max(strategy_.traits(static_cast<int>(terms_.workers)).state_shards, 1);
  return stage_terms.parameters() * (stage_terms.bytes.parameter + stage_terms.optimizer_bytes()) / shards;
}

}  // namespace simgrad::strategies
