/// The time of a placed step whose messages share links.
///
/// The cost model by which operators are placed gives each message the whole of its path. Here messages that are under
/// way at one time have their max-min fair shares of the links, as in the run.  Cost: messages x messages under way.
#pragma once

#include <cstddef>

#include "strategies/operators/step_plan.h"

namespace simgrad::strategies {

struct SharedStep {
  double duration_s = 0.0;   ///< virtual, updates included
  std::size_t messages = 0;  ///< of the step
  std::size_t slowed = 0;    ///< those that have less than their whole path for a while
};

/// The step of a plan.  problem: that of the plan's placement, with the links of its devices.
SharedStep shared_step(const StepPlan& plan, const PlacementProblem& problem);

}  // namespace simgrad::strategies
