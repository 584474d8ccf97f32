#include "values/interleaved.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/errors.h"
#include "values/dispatcher_impl.h"

namespace simgrad::values {

Tensor interleaved(const Tensor& x, std::int64_t rows, std::span<const std::int64_t> widths) {
  const std::int64_t width = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
  base::check(x.size() == rows * width, "matrices of so many rows and columns fill a vector");
  if (rows <= 1) return x;
  std::vector<std::uint64_t> key{static_cast<std::uint64_t>(rows)};
  for (const std::int64_t matrix_width : widths) key.push_back(static_cast<std::uint64_t>(matrix_width));
  const Operation operation{.name = "interleave",
                            .key = key,
                            .seconds = 1.6e-9 * static_cast<double>(x.size()),
                            .wire_format = x.wire_format()};
  return Node::of(x).dispatcher->dispatch(
      operation, x.size(), {&x, 1},
      [rows, width, each = std::vector(widths.begin(), widths.end())](std::span<const std::span<const double>> numbers,
                                                                      std::span<double> result) {
        auto from = numbers[0].begin();
        std::int64_t column = 0;
        for (const std::int64_t matrix_width : each) {
          for (std::int64_t row = 0; row < rows; ++row, from += matrix_width)
            std::copy_n(from, matrix_width, result.begin() + row * width + column);
          column += matrix_width;
        }
      });
}

}  // namespace simgrad::values
