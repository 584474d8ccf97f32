/// A small plot of loss against simulated time for a terminal.
#pragma once

#include <string>

#include "outputs/results.h"

namespace simgrad::outputs {

/// Returns the plot of the grid point of the fastest case to the target, or else of the last one, at most 80 columns
/// wide and about a dozen lines high. A curve is the mean over the seeds: mean time and mean loss at the evaluations
/// that all seeds have. In colour, curves are lines of dots; without colour they are letters, which alternate where
/// curves overlap. A loss that falls twentyfold gets a logarithmic axis, and so does time if one strategy takes twenty
/// times as long as another. A curve that diverges leaves the plot, and the legend has the step. Empty if there is
/// nothing to draw: no losses, or no strategy with two evaluations.
std::string plot(const Results& results, const TableStyle& style);

}  // namespace simgrad::outputs
