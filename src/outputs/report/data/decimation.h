/// Decimation: fewer points of a curve, with the same look on a screen.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace simgrad::outputs::report {

/// Returns the indices, ascending, of at most `most` points (at least four per column), all of them if they fit. The
/// first and the last point stay, and from each of equal intervals the smallest and the largest number of every column,
/// so that no peak is lost. Columns have equal lengths; numbers that are not finite are ignored.
std::vector<std::size_t> decimated(std::span<const std::vector<double>> columns, std::size_t most);

}  // namespace simgrad::outputs::report
