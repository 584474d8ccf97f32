/// Tensors of which only the length is seen: in a run without numbers, where nobody follows lineages.
#pragma once

#include <utility>

#include "collectives/split.h"
#include "values/tensor.h"

namespace simgrad::collectives {

inline bool is_length_alone(const values::Tensor& x) {
  return x && x.timing_only() && x.lineage() == values::Lineage();
}

/// Stretches of vectors. Where only lengths are seen, all of one length and format are one tensor.
class Stretches {
 public:
  values::Tensor take(const values::Tensor& x, const Stretch& stretch) {
    if (!is_length_alone(x)) return values::slice(x, stretch.first, stretch.count);
    const auto fits = [&](const values::Tensor& known) {
      return known && known.size() == stretch.count && known.wire_format() == x.wire_format();
    };
    // A vector in nearly equal chunks has two lengths of them.
    if (!fits(last_)) std::swap(last_, last_but_one_);
    if (!fits(last_)) last_ = values::slice(x, stretch.first, stretch.count);
    return last_;
  }

 private:
  values::Tensor last_;
  values::Tensor last_but_one_;
};

}  // namespace simgrad::collectives
