/// The units of a model that each stage of a pipeline has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "strategies/parallel/parallel.h"
#include "training/parts/model_parts.h"

namespace simgrad::strategies {

/// The first unit of each of `pieces` stretches of consecutive units, and behind the last one the number of units.  The
/// stretch with the largest cost has as little as possible; every stretch has a unit at least.  costs: by unit.
std::vector<std::int64_t> balanced(std::span<const double> costs, std::int64_t pieces);

/// The reason why a model with so many units cannot be cut so, or empty.
std::string stages_refusal(const Parallel& parallel, std::int64_t units);

/// The chunks of every part: piece c x pipeline + i of the model is chunk c of stage i.  layers: of the whole model.
std::vector<std::vector<models::Chunk>> chunks_of_parts(const Parallel& parallel,
                                                        std::span<const models::Layer> layers);

}  // namespace simgrad::strategies
