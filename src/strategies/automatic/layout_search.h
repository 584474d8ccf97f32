/// A search for the layout of a model on a mesh whose step is predicted to be the shortest.
///
/// Every way to share out the ranks is looked at: tensor x context x expert ranks that share a stage's units, stages,
/// replicas, and micro-batches. For each, stages are dealt by dynamic programming (stage_program.h). All stages are
/// shared in one way, as in Megatron-LM; Alpa may share each stage in a way of its own. Stages follow the order of the
/// ranks, and replicas have equal parts of a batch, however fast their devices are: Whale sizes these, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "strategies/automatic/layout_prediction.h"

namespace simgrad::strategies {

/// The options of [parallel] that are to be found; the others are as given.
struct FreeOptions {
  bool tensor = true, pipeline = true, context = true, expert = true, micro_batches = true, stages = true;
};

struct LayoutSearch {
  std::vector<PredictedLayout> best;  ///< by their steps, with their memory
  std::int64_t predicted = 0;         ///< layouts whose step was predicted, those that do not fit into memory included
  std::map<std::string, std::int64_t> refused;  ///< by reason
};

/// The `most` best ones that fit.  given: its schedule and chunks are kept, and its `data` if there is one.  whole: of
/// the whole model and all ranks, with the run's cluster.  Where steps are equal to a billionth,
/// fewer ranks a replica come first, then fewer micro-batches.
LayoutSearch search_layouts(const Strategy& strategy, const Parallel& given, const FreeOptions& free,
                            const training::MemoryTerms& whole, std::size_t most);

}  // namespace simgrad::strategies
