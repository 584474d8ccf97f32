/// A vector in P chunks whose lengths differ by at most one.
#pragma once

#include <vector>

#include "values/tensor.h"

namespace simgrad::collectives {

/// The first d mod P chunks are the longer ones.
std::vector<values::Tensor> split(const values::Tensor& x, int P);

}  // namespace simgrad::collectives
