/// What a training has learnt so far.
#pragma once

#include <cstdint>
#include <vector>

#include "values/tensor.h"

namespace simgrad::training {

/// Parameters, the optimizer's memory, and how many updates made them. Copying it copies no numbers.
struct State {
  values::Tensor w;                    ///< (d)
  std::vector<values::Tensor> memory;  ///< of the optimizer, each (d)
  std::int64_t step = 0;               ///< w is the state after `step` updates
};

}  // namespace simgrad::training
