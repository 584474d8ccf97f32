/// The sentence on the winner, under the table of a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "outputs/comparison.h"

namespace simgrad::outputs {

/// Names in a list; the others are counted.
inline constexpr std::size_t most_named = 6;

/// Returns "ring at workers=8": the label, and the grid point if there is one.
std::string named(const Row& row);

/// Returns the summary: the fastest strategy, its lead, and the shares of its time. Where the grid has keys that are no
/// choices, the winner at each of their values, in the words of the report. comparison: of the results.
std::string sentence(const Results& results, const Comparison& comparison);

}  // namespace simgrad::outputs
