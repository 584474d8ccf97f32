/// How a gradient becomes an update.
#pragma once

#include <cstdint>

#include "base/describe.h"
#include "base/registry.h"
#include "training/state.h"

namespace simgrad::training {

class Optimizer : public base::Described {
 public:
  void describe(base::Describer&) override {}
  /// Flops a parameter and update.
  virtual double flops() const = 0;
  /// The state's vectors before the first update.
  virtual void start(State& state) const;
  /// state.w and state.memory after one update with gradient g at learning rate lr; the step is the caller's.
  virtual void update(State& state, const values::Tensor& g, double lr) const = 0;
};

/// sgd, momentum
const base::Registry<Optimizer>& optimizers();

}  // namespace simgrad::training
