#include "strategies/parallel/mesh_memory.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "models/model_part.h"
#include "strategies/parallel/slice_cache.h"
#include "strategies/parallel/stage_search.h"
#include "strategies/parallel/stage_tables.h"
#include "strategies/parallel/stage_walk.h"
#include "strategies/parallel/stages.h"

namespace simgrad::strategies {

using record::MemoryPart;
using record::MemoryParts;

namespace {

/// The memory of a rank of each stage.
class StageMemory {
 public:
  StageMemory(const Strategy& strategy, const Parallel& parallel, const training::MemoryTerms& terms)
      : strategy_(strategy),
        parallel_(parallel),
        table_(table_for_memory(parallel)),
        micro_batches_(static_cast<int>(enough_micro_batches(parallel))),
        units_(terms.layers.back().unit + 1),
        terms_(terms),
        whole_(std::shared_ptr<const void>(), terms.model) {
    terms_.layers.clear();
    terms_.workers = terms.workers / parallel.ranks_a_replica();
    const std::int64_t own = strategy.traits(static_cast<int>(terms_.workers)).micro_batches;
    const std::int64_t micro_batches = terms_.workers * parallel.micro_batch_count() * parallel.expert * own;
    terms_.rows = (terms.batch + micro_batches - 1) / micro_batches;
    rows_of_step_ = (terms.batch + terms_.workers - 1) / terms_.workers;
  }

  MemoryParts of(int stage, const std::vector<models::Chunk>& chunks) const {
    training::MemoryTerms its = terms_;
    const models::ModelPart model(whole_, *terms_.problem, chunks, units_);
    its.layers = model.layers(*terms_.problem);
    const PipelineShape shape = parallel_.shape();
    const training::MeshPasses passes =
        StageWalk(model, its).passes(table_[static_cast<std::size_t>(stage)], micro_batches_);
    its.mesh = &passes;
    MemoryParts parts = strategy_.memory(its);
    PipelineShape stream = shape;
    stream.micro_batches = 2 * shape.stages;  // enough for all versions that a stage can have
    const int versions = parallel_.pipeline > 1 ? parallel_.schedule->weight_versions(stream, stage) : 1;
    parts[MemoryPart::workspace] += (versions - 1) * its.parameters() * its.bytes.parameter;
    parts[MemoryPart::workspace] += bytes_kept(model, parallel_.slices(), terms_, rows_of_step_);
    return parts;
  }
  /// With these units.
  MemoryParts of_units(int stage, std::int64_t first, std::int64_t end) const {
    const models::Shares shares = parallel_.shares();
    return of(stage, {{.first_unit = first,
                       .end_unit = end,
                       .tensor = shares.tensor,
                       .sequence_parallel = shares.sequence_parallel,
                       .context = shares.context,
                       .expert = shares.expert}});
  }
  /// By stage, of a cut.
  std::vector<MemoryParts> of_all(const std::vector<std::vector<models::Chunk>>& chunks) const {
    const std::size_t ranks_a_stage = chunks.size() / static_cast<std::size_t>(parallel_.pipeline);
    std::vector<MemoryParts> all;
    for (std::size_t part = 0; part < chunks.size(); part += ranks_a_stage)
      all.push_back(of(static_cast<int>(part / ranks_a_stage), chunks[part]));
    if (!copies_next_stage(parallel_)) return all;
    for (std::size_t stage = 0; stage < all.size(); ++stage)
      all[stage][MemoryPart::workspace] += state_bytes(chunks[(stage + 1) % all.size() * ranks_a_stage]);
    return all;
  }

 private:
  /// The state that one rank has of these chunks.
  double state_bytes(const std::vector<models::Chunk>& chunks) const {
    training::MemoryTerms its = terms_;
    its.layers = models::ModelPart(whole_, *terms_.problem, chunks, units_).layers(*terms_.problem);
    const int shards = std::max(strategy_.traits(static_cast<int>(terms_.workers)).state_shards, 1);
    return its.parameters() * (its.bytes.parameter + its.optimizer_bytes()) / shards;
  }

  const Strategy& strategy_;
  const Parallel& parallel_;
  PipelineTable table_;
  int micro_batches_;
  std::int64_t units_;
  training::MemoryTerms terms_;
  std::int64_t rows_of_step_ = 0;
  std::shared_ptr<const models::Model> whole_;
};

/// The cut whose fullest stage holds least, and of those one whose stage with most flops has least; of stages with
/// several chunks, as far as a search finds.
std::vector<std::int64_t> firsts_by_memory(const Parallel& parallel, const StageMemory& memory,
                                           std::span<const models::Layer> layers) {
  Parallel by_blocks = parallel;
  by_blocks.balance = Balance::blocks;
  Parallel by_flops = parallel;
  by_flops.balance = Balance::flops;
  const std::vector<std::int64_t> begin = firsts_of_pieces(by_flops, layers);
  const auto stages = static_cast<std::size_t>(parallel.pipeline);
  if (parallel.chunks > 1)
    return improved({begin, firsts_of_pieces(by_blocks, layers)}, stages, [&](const std::vector<std::int64_t>& firsts) {
      std::vector<double> bytes;
      for (const MemoryParts& parts : memory.of_all(chunks_of_parts(parallel, firsts))) bytes.push_back(parts.sum());
      return bytes;
    });
  std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, double> known;
  const auto bytes = [&](std::size_t stage, std::int64_t first, std::int64_t end) {
    const auto [at, fresh] = known.try_emplace({stage, first, end});
    if (fresh) at->second = memory.of_units(static_cast<int>(stage), first, end).sum();
    return at->second;
  };
  std::vector<double> flops{0.0};  // until each unit
  for (const double cost : costs_of_units(layers)) flops.push_back(flops.back() + cost);
  return least_largest(begin, bytes, [&](std::size_t, std::int64_t first, std::int64_t end) {
    return flops[static_cast<std::size_t>(end)] - flops[static_cast<std::size_t>(first)];
  });
}

}  // namespace

std::vector<std::int64_t> firsts_of_pieces(const Strategy& strategy, const Parallel& parallel,
                                           const training::MemoryTerms& terms) {
  const bool by_memory = parallel.balance == Balance::memory && parallel.stages.empty() && parallel.pipeline > 1;
  return by_memory ? firsts_by_memory(parallel, StageMemory(strategy, parallel, terms), terms.layers)
                   : firsts_of_pieces(parallel, terms.layers);
}

std::vector<std::vector<models::Chunk>> chunks_of_parts(const Strategy& strategy, const Parallel& parallel,
                                                        const training::MemoryTerms& terms) {
  return chunks_of_parts(parallel, firsts_of_pieces(strategy, parallel, terms));
}

std::vector<MemoryParts> memory_of_stages(const Strategy& strategy, const Parallel& parallel,
                                          const training::MemoryTerms& terms) {
  return StageMemory(strategy, parallel, terms).of_all(chunks_of_parts(strategy, parallel, terms));
}

MemoryParts largest_part(const Strategy& strategy, const Parallel& parallel, const training::MemoryTerms& terms) {
  return std::ranges::max(memory_of_stages(strategy, parallel, terms), {}, &MemoryParts::sum);
}

}  // namespace simgrad::strategies
