/// The memory of a rank that holds a part of a model.
///
/// Source: V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", MLSys 2023; D.
/// Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021.
#pragma once

#include "strategies/parallel/parallel.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// The part that needs most: that of the strategy for the part's layers, with the activations and gradients that are
/// there together as the stage does its tasks.  terms: of the whole model and all ranks.
record::MemoryParts largest_part(const Strategy& strategy, const Parallel& parallel,
                                 const training::MemoryTerms& terms);

/// The memory of a rank of each stage, of the one that needs most, likewise.
std::vector<record::MemoryParts> memory_of_stages(const Strategy& strategy, const Parallel& parallel,
                                                  const training::MemoryTerms& terms);

/// The memory of each stage's tensor ranks; of one of them where they have equal shares.
std::vector<std::vector<record::MemoryParts>> memory_of_tensor_ranks(const Strategy& strategy, const Parallel& parallel,
                                                                     const training::MemoryTerms& terms);

/// The first unit of each piece of the model, and behind the last one the number of units, as `stages` or `balance`
/// says.  terms: as above.
std::vector<std::int64_t> firsts_of_pieces(const Strategy& strategy, const Parallel& parallel,
                                           const training::MemoryTerms& terms);
/// The chunks of every part, as `stages` or `balance` says.  terms: as above.
std::vector<std::vector<models::Chunk>> chunks_of_parts(const Strategy& strategy, const Parallel& parallel,
                                                        const training::MemoryTerms& terms);

}  // namespace simgrad::strategies
