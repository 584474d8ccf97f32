#include "strategies/parallel/mesh_memory.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "strategies/parallel/stage_memory.h"
#include "strategies/parallel/stage_search.h"
#include "strategies/parallel/stages.h"
#include "strategies/parallel/tensor_weights.h"

namespace simgrad::strategies {

using record::MemoryParts;

namespace {

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
      for (const std::vector<MemoryParts>& ranks : memory.of_tensor_ranks(chunks_of_parts(parallel, firsts)))
        bytes.push_back(ranks.front().sum());
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
  const std::vector<std::int64_t> firsts = firsts_of_pieces(strategy, parallel, terms);
  return chunks_of_parts(parallel, firsts, tensor_weights(strategy, parallel, firsts, terms));
}

std::vector<std::vector<MemoryParts>> memory_of_tensor_ranks(const Strategy& strategy, const Parallel& parallel,
                                                             const training::MemoryTerms& terms) {
  return StageMemory(strategy, parallel, terms).of_tensor_ranks(chunks_of_parts(strategy, parallel, terms));
}

std::vector<MemoryParts> memory_of_stages(const Strategy& strategy, const Parallel& parallel,
                                          const training::MemoryTerms& terms) {
  std::vector<MemoryParts> all;
  for (const std::vector<MemoryParts>& ranks : memory_of_tensor_ranks(strategy, parallel, terms))
    all.push_back(std::ranges::max(ranks, {}, &MemoryParts::sum));
  return all;
}

MemoryParts largest_part(const Strategy& strategy, const Parallel& parallel, const training::MemoryTerms& terms) {
  return std::ranges::max(memory_of_stages(strategy, parallel, terms), {}, &MemoryParts::sum);
}

}  // namespace simgrad::strategies
