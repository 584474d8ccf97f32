/// The loss of several seeds as one curve.
#pragma once

#include <vector>

#include "outputs/results.h"

namespace simgrad::outputs {

struct CurvePoint {
  double simulated_s = 0.0, loss = 0.0;
};

/// Means over the runs at the steps at which all were evaluated, until the last ends; a run that has ended stays where
/// it ended.  With one run: its evaluations.  Ends where the first run diverges.
std::vector<CurvePoint> mean_curve(const std::vector<const Run*>& runs);

}  // namespace simgrad::outputs
