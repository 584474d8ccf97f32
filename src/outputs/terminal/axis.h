/// An axis of a plot: the position of a number, and the round numbers to write beside the axis.
#pragma once

#include <cstddef>
#include <vector>

namespace simgrad::outputs {

struct Axis {
  double from = 0.0;
  double to = 1.0;           ///< above `from`
  bool logarithmic = false;  ///< requires `from` above 0

  /// Returns the position of a number: 0 at `from`, 1 at `to`.
  double place(double value) const;

  /// Returns about `most` round numbers within the axis: multiples of 1, 2 or 5 times a power of ten. On a logarithmic
  /// axis they are powers of ten, and 2 and 5 times these if there are few.
  std::vector<double> ticks(std::size_t most) const;
};

}  // namespace simgrad::outputs
