/// Whole things dealt in proportion to weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace simgrad::base {

/// The first of each of n consecutive parts of `count` things, and then `count`. Parts are in proportion to the
/// weights, by the method of largest remainders (A. Hamilton, 1792), ties to the first. No part is empty if there are
/// enough things.
std::vector<std::int64_t> apportioned(std::int64_t count, std::span<const double> weights);

}  // namespace simgrad::base
