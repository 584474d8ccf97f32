/// Parameters that a rank changes in place.
///
/// A table of millions of rows of which an update touches a thousand is no immutable tensor: every update would copy
/// it. So it is one piece of memory, whose reads and updates run in the order of the timeline, and becomes a tensor
/// when somebody looks at all of it: an evaluation, or a checkpoint.
#pragma once

#include "training/state.h"

namespace simgrad::training {

class Store {
 public:
  virtual ~Store() = default;
  /// As it is now, without a step.  Real time and memory: a copy of all.
  virtual State state() const = 0;
};

}  // namespace simgrad::training
