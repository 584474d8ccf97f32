// The useful share of a run with failures and checkpoints, in closed form.
#pragma once

#include <cmath>

namespace simgrad::tests {

/// The share of the time that is useful work, exactly, for exponential failures.  restart_s: from a failure until the
/// work goes on from the last checkpoint.
inline double checkpoint_efficiency(double interval_s, double mtbf_s, double cost_s, double restart_s) {
  return interval_s / (mtbf_s * std::exp(restart_s / mtbf_s) * std::expm1((interval_s + cost_s) / mtbf_s));
}

}  // namespace simgrad::tests
