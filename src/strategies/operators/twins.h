/// Devices that a schedule cannot tell apart.
#pragma once

#include <cstddef>
#include <vector>

#include "strategies/operators/placing.h"

namespace simgrad::strategies {

/// By device: the devices before it with equal memory, speeds for every operator, and paths. While both are unused, a
/// search needs to try one of them alone.
std::vector<std::vector<std::size_t>> twins_of(const PlacementProblem& problem);

}  // namespace simgrad::strategies
