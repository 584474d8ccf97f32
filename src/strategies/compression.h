/// The options by which strategies compress what they send.
#pragma once

#include "strategies/strategy.h"
#include "training/compressors/compressor.h"

namespace simgrad::strategies {

using Compression = base::Slot<training::Compressor>;
inline Compression no_compression() { return {training::compressors(), "none"}; }

/// `compression`: of gradients.
void describe_compression(base::Describer& d, Compression& compression);
/// The option `key`: a compression of parameters, which only some kinds keep, and which error feedback would not
/// improve.
void describe_parameter_compression(base::Describer& d, std::string_view key, Compression& compression,
                                    std::string_view meaning);
/// `compression`: of replicas' moves, whose mean is taken.
void describe_move_compression(base::Describer& d, Compression& compression);
/// Refuses the option `algorithm` of an allreduce beside a compressor whose codes cannot be summed: such codes are
/// gathered.
void refuse_unused_algorithm(base::Describer& d, std::string_view algorithm, const training::Compressor& compressor);
/// The reason why the model's gradients cannot be compressed in this way.
std::optional<Refusal> compression_refusal(const Compression& compression, const Circumstances& circumstances,
                                           std::string_view key = "compression");

}  // namespace simgrad::strategies
