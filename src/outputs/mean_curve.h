/// The mean loss curve of several seeds.
#pragma once

#include <vector>

#include "outputs/results.h"

namespace simgrad::outputs {

struct CurvePoint {
  double simulated_s = 0.0, loss = 0.0;
};

/// Returns means over the runs at the steps at which all were evaluated, up to the end of the last run; a run that has
/// ended keeps its last values. With one run: its evaluations. The curve ends where the first run diverges.
std::vector<CurvePoint> mean_curve(const std::vector<const Run*>& runs);

}  // namespace simgrad::outputs
