/// The options by which strategies compress what they send.
#pragma once

#include "strategies/strategy.h"
#include "training/compressors/compressor.h"

namespace simgrad::strategies {

using Compression = base::Slot<training::Compressor>;
inline Compression no_compression() { return {training::compressors(), "none"}; }

/// `compression`: of gradients.
void describe_compression(base::Describer& d, Compression& compression);
/// The same of parameters, which only some of the kinds keep, and which a memory would make no better.
void describe_parameter_compression(base::Describer& d, std::string_view key, Compression& compression,
                                    std::string_view meaning);
/// `compression`: of how far replicas have moved, of which a mean is taken.
void describe_move_compression(base::Describer& d, Compression& compression);
/// An allreduce's algorithm beside a compressor whose codes are gathered, because they do not add up.
void refuse_unused_algorithm(base::Describer& d, std::string_view algorithm, const training::Compressor& compressor);
/// Why such a model's gradients cannot be compressed so.
std::optional<Strategy::Unfit> compression_misfit(const Compression& compression, const Strategy::Fit& fit,
                                                  std::string_view key = "compression");

}  // namespace simgrad::strategies
