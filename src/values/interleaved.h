/// Columns of several matrices side by side.
#pragma once

#include <cstdint>
#include <span>

#include "values/tensor.h"

namespace simgrad::values {

/// x: matrices of `rows` rows and widths[0], widths[1], ... columns, each row by row, one behind the other.  Returns
/// the one matrix (rows x their sum) whose rows are theirs side by side.
Tensor interleaved(const Tensor& x, std::int64_t rows, std::span<const std::int64_t> widths);

}  // namespace simgrad::values
