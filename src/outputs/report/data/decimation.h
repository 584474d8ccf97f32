/// Fewer points of a curve that look the same on a screen.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace simgrad::outputs::report {

/// The places, ascending, of at most `most` points (at least four a column): the first and the last, and of each of as
/// many equal stretches as there is room for the smallest and the largest number of every column, so that no peak is
/// lost.  Columns have equal lengths; numbers that are not finite are neither small nor large.  All places if they fit.
std::vector<std::size_t> decimated(std::span<const std::vector<double>> columns, std::size_t most);

}  // namespace simgrad::outputs::report
