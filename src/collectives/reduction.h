/// The reductions of the members' vectors.
#pragma once

#include "cluster/ranks/communicator.h"
#include "values/tensor.h"

namespace simgrad::collectives {

enum class Reduction : unsigned char { sum, mean, max, min };

/// The combination of two vectors on the way.
constexpr values::Combination combination(Reduction reduction) {
  switch (reduction) {
    case Reduction::max:
      return values::Combination::maximum;
    case Reduction::min:
      return values::Combination::minimum;
    default:
      return values::Combination::add;
  }
}

/// Finishes a reduction once all vectors are combined: a mean divides the sum by P, a flop a number.
inline values::Tensor finish(const cluster::Communicator& comm, Reduction reduction, const values::Tensor& x) {
  if (reduction != Reduction::mean || comm.size() == 1) return x;
  comm.charge_reduction(static_cast<double>(x.size()), record::Work::average);
  return (1.0 / comm.size()) * x;
}

}  // namespace simgrad::collectives
