/// A training's state: parameters, and the vectors that belong to them.
#pragma once

#include <cstdint>
#include <vector>

#include "values/tensor.h"

namespace simgrad::training {

/// A strategy's vectors and numbers that are true only of all ranks together, a constant sum over the ranks for
/// example. After a failure they are kept only if every worker goes on from its own state, because no part of them is
/// true by itself.
struct Joint {
  std::vector<values::Tensor> vectors;
  std::vector<double> numbers;

  bool empty() const { return vectors.empty() && numbers.empty(); }
};

/// Copying a state copies no numbers. Checkpoints hold all of it.
struct State {
  values::Tensor w;                            ///< the parameters (d)
  std::int64_t step = 0;                       ///< w is the state after `step` updates
  std::vector<values::Tensor> optimizer = {};  ///< the optimizer's vectors, each (d)
  std::int64_t optimizer_updates = 0;    ///< updates that have gone into these, where the optimizer corrects their bias
  std::vector<values::Tensor> own = {};  ///< the strategy's vectors that every replica has, each (d), carried as w is
  Joint joint = {};                      ///< the strategy's values that are true of all ranks together
};

}  // namespace simgrad::training
