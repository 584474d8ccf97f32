/// A batch that does not divide into the micro-batches of a mesh.
#pragma once

#include <cstdint>
#include <string>

#include "strategies/parallel/parallel.h"

namespace simgrad::strategies {

/// The reason why so many rows do not divide into the micro-batches of so many replicas, and the numbers that would do;
/// empty where they divide.  accumulated: the strategy's own micro-batches, each of which the mesh divides further.
std::string uneven_batch(std::int64_t rows, std::int64_t replicas, std::int64_t accumulated, const Parallel& parallel);

}  // namespace simgrad::strategies
