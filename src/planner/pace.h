/// The time, the money and the energy of a training, from a simulation of its first steps.
#pragma once

#include "planner/candidate.h"
#include "planner/outcome.h"
#include "planner/rank.h"

namespace simgrad::planner {

class Pace {
 public:
  /// outcome: with a moment a step, of a candidate whose steps repeat every `period` steps.
  Pace(const Outcome& outcome, std::int64_t period);

  /// Whether steps repeat to the last digits, so that what follows is known.
  bool repeats() const { return repeats_; }
  /// Whether so many samples have been simulated.
  bool covers(double samples) const;
  /// With the mean of the simulated steps, and with their fastest quarter.
  Measures expected(double samples) const { return after(samples, mean_s_); }
  Measures least(double samples) const { return after(samples, least_s_); }

 private:
  Measures after(double samples, double a_sample_s) const;

  const Outcome& outcome_;
  bool repeats_ = false;
  double mean_s_ = 0.0, least_s_ = 0.0;  ///< of a sample behind those that are simulated
};

}  // namespace simgrad::planner
