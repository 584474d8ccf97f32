/// A batch that does not divide into the micro-batches of a mesh.
#pragma once

#include <cstdint>
#include <string>

#include "strategies/parallel/parallel.h"

namespace simgrad::strategies {

/// The reason why so many rows do not divide into the micro-batches of so many replicas, and the numbers that would do;
/// empty where they divide.
std::string uneven_batch(std::int64_t rows, std::int64_t replicas, const Parallel& parallel);

}  // namespace simgrad::strategies
