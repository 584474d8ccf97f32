/// Tensors of which only the shape is known: one of them may stand for all of its shape.
#pragma once

#include <algorithm>
#include <span>

#include "values/tensor.h"

namespace simgrad::values {

/// Whether nothing is known of the tensor's numbers, now or ever.
inline bool is_shape_alone(const Tensor& x) { return x && x.timing_only() && x.lineage() == Lineage{}; }

/// Whether all are shapes alone, and the same one.
inline bool are_one_shape(std::span<const Tensor> all) {
  return std::ranges::all_of(all, [&](const Tensor& x) {
    return is_shape_alone(x) && x.size() == all.front().size() && x.wire_format() == all.front().wire_format();
  });
}

}  // namespace simgrad::values
