/// The shares of tensor ranks on unlike devices in the products of layers.
///
/// A rank's share is in proportion to its speed, so that ranks that wait for each other behind every product come to it
/// together; a rank whose memory holds less has as much as it holds, and the others have the rest in proportion to
/// their speeds. Ranks with one part of the model have one share, and so the speed of the slowest of them.
#pragma once

#include <cstdint>
#include <vector>

#include "strategies/parallel/stages.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// The speed of each stage's tensor ranks, of gradients in flop/s: of the slowest rank with that part.  terms: of the
/// whole model and all ranks.  Errors: InvariantError without Parallel::powers.
TensorWeights tensor_speeds(const Parallel& parallel, const training::MemoryTerms& terms);

/// The weights, which add up to 1 in each stage; empty where shares are equal. Where no shares fit into memory they are
/// those by speed.  firsts: of the pieces of the model.
TensorWeights tensor_weights(const Strategy& strategy, const Parallel& parallel,
                             const std::vector<std::int64_t>& firsts, const training::MemoryTerms& terms);

/// The memory of each stage's tensor ranks: that of the smallest device with that part; infinite: not known.
TensorWeights tensor_limits(const Parallel& parallel, std::int64_t workers);

}  // namespace simgrad::strategies
