/// An axis of a plot: where a number lies on it, and which numbers are written beside it.
#pragma once

#include <cstddef>
#include <vector>

namespace simgrad::outputs {

struct Axis {
  double from = 0.0;
  double to = 1.0;           ///< above `from`
  bool logarithmic = false;  ///< `from` is above 0 then

  /// 0 at `from`, 1 at `to`.
  double place(double value) const;

  /// Round numbers within the axis, about `most` of them and never many more: multiples of 1, 2 or 5 times a power of
  /// ten; on a logarithmic axis powers of ten, with their 2 and 5 times where there are few.
  std::vector<double> ticks(std::size_t most) const;
};

}  // namespace simgrad::outputs
