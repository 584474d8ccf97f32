/// How many samples a training takes to its target loss, seen from its beginning.
#pragma once

#include <vector>

#include "planner/outcome.h"

namespace simgrad::planner {

/// Samples in all until the loss is at the target.
struct SamplesToTarget {
  double least = 0.0;     ///< fewer would be a surprise
  double expected = 0.0;  ///< as the curve goes on now
};

/// The logarithm of a loss falls at a rate per sample. The expected rate is that of the last half of what was seen; a
/// rate above twice the steepest stretch there would be a surprise, for the losses of gradient methods fall ever more
/// slowly. A loss that does not fall there is expected to need ten times as many samples, and half of these at least.
/// curve: with losses, not at the target yet; at least two moments.
SamplesToTarget samples_to_target(const std::vector<Moment>& curve, double target);

}  // namespace simgrad::planner
