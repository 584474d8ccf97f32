/// How fast this machine computes the gradients of a scenario: what to write as cluster.speed.
#pragma once

#include <cstdint>
#include <string>

#include "experiment/plan.h"

namespace simgrad::experiment {

/// Sustained flop/s of one thread on one worker's gradients, by repeating them.
struct Calibration {
  std::string model;
  std::int64_t rows = 0;       ///< of one gradient
  std::int64_t features = 0;   ///< of a row, the constant one of a bias included
  double flops = 0.0;          ///< of one gradient, as charged
  std::int64_t gradients = 0;  ///< that were timed
  double median_flops_per_s = 0.0;
  double slow_flops_per_s = 0.0;  ///< a tenth of the gradients were slower
  double fast_flops_per_s = 0.0;  ///< a tenth were faster
};

/// Computes gradients of the run's first worker for about so long, at least five of them; each is of another step's
/// batch.  Errors: ScenarioError where the scenario computes no numbers.
Calibration calibrate(const RunPlan& run, double real_s);

}  // namespace simgrad::experiment
