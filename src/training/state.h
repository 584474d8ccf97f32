/// What a training has learnt so far.
#pragma once

#include <cstdint>
#include <vector>

#include "values/tensor.h"

namespace simgrad::training {

/// What a strategy itself takes along from one step to the next. After a failure it is there only if every worker goes
/// on from a state of its own: what is true of all ranks' together (a sum, say) is true of no part of them.
struct Carried {
  std::vector<values::Tensor> vectors;
  std::vector<double> numbers;
};

/// Parameters, the optimizer's memory, and how many updates made them. Copying it copies no numbers.
struct State {
  values::Tensor w;                    ///< (d)
  std::vector<values::Tensor> memory;  ///< of the optimizer, then what of a strategy's own every replica has; each (d)
  std::int64_t step = 0;               ///< w is the state after `step` updates
  Carried carried = {};
};

}  // namespace simgrad::training
