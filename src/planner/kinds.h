/// The kind of a candidate, as far as two differ in kind and not in size alone.
#pragma once

#include <array>
#include <string>

#include "planner/candidate.h"

namespace simgrad::planner {

/// Kinds from the coarsest distinction to the finest: the strategy; the classes of hosts, devices and the market; the
/// mesh; the strategy's options; all that the search space varies.
using Kinds = std::array<std::string, 5>;

Kinds kinds_of(const Candidate& candidate);

/// The coarsest distinction between two candidates; its index in Kinds. They are not the same one.
std::size_t distinction(const Candidate& a, const Candidate& b);

}  // namespace simgrad::planner
