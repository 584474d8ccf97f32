/// The part of a rank that goes on after a collective in which it does not block.
#pragma once

#include <memory>

#include "values/tensor.h"

namespace simgrad::cluster {

class AfterCollective : public std::enable_shared_from_this<AfterCollective> {
 public:
  virtual ~AfterCollective() = default;
  /// Called at the member's end, with its result. There is no calling actor.
  virtual void go_on(values::Tensor result) = 0;
  /// Whether the rank was killed: it does not leave the collective then.
  virtual bool gone() const = 0;
};

}  // namespace simgrad::cluster
