/// The speed at which this machine computes a scenario's gradients, for cluster.speed.
#pragma once

#include <cstdint>
#include <string>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// Sustained flop/s of one thread on one worker's gradients, by repeating them.
struct Calibration {
  std::string model;
  std::int64_t rows = 0;       ///< rows of one gradient
  std::int64_t features = 0;   ///< features of a row, the constant one of a bias included
  double flops = 0.0;          ///< flops of one gradient, as charged
  std::int64_t gradients = 0;  ///< number of timed gradients
  double median_flops_per_s = 0.0;
  double slow_flops_per_s = 0.0;  ///< a tenth of the gradients were slower
  double fast_flops_per_s = 0.0;  ///< a tenth were faster
};

/// Computes gradients of the run's first worker for about `real_s`, at least five, each of another step's batch.
/// Errors: ScenarioError where the scenario computes no numbers.
Calibration calibrate(const RunPlan& run, double real_s);

}  // namespace simgrad::experiment
