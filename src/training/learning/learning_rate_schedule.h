/// How the learning rate changes as the training goes on.
#pragma once

#include "base/describe.h"
#include "base/registry.h"

namespace simgrad::training {

class LearningRateSchedule : public base::Described {
 public:
  void describe(base::Describer&) override {}
  /// The factor of the learning rate after `rounds` rounds: synchronous steps, or updates / P of an asynchronous
  /// server, so that a schedule has one meaning for both.
  virtual double factor(double rounds) const = 0;
};

/// The schedules a scenario can name.
const base::Registry<LearningRateSchedule>& learning_rate_schedules();

}  // namespace simgrad::training
