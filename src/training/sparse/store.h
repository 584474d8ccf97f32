/// Parameters that a rank changes in place.
///
/// An update touches a thousand of a table's millions of rows. An immutable tensor would be copied every time, so a
/// store is one piece of memory, whose reads and updates run in the order of the timeline. An evaluation or a
/// checkpoint makes a tensor of it.
#pragma once

#include "training/state.h"

namespace simgrad::training {

class Store {
 public:
  virtual ~Store() = default;
  /// The state as it is now, without a step.  Real time and memory: a copy of all.
  virtual State state() const = 0;
};

}  // namespace simgrad::training
