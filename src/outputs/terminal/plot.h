/// A small plot of loss against simulated time for a terminal.
#pragma once

#include <string>

#include "outputs/results.h"

namespace simgrad::outputs {

/// The curves of one grid point, the last, each a mean over the seeds: of the evaluations that all seeds have, the mean
/// time and the mean loss.  Colours draw a line of dots a strategy; without, each has a letter, and letters take turns
/// where curves lie on each other.  A loss that falls twentyfold gets a logarithmic axis, and so does time where one
/// strategy takes twenty times as long as another.  At most 80 columns and about a dozen lines.
/// Empty where there is nothing to draw: no losses, or no strategy with two evaluations.
std::string plot(const Results& results, const TableStyle& style);

}  // namespace simgrad::outputs
