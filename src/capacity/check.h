/// The checks of a fleet that `simgrad capacity` makes before it simulates anything.
#pragma once

#include "base/errors.h"
#include "experiment/plan/plan.h"

namespace simgrad::capacity {

/// The error for a scenario with several trainings, of which a fleet needs one.
base::ScenarioError several_trainings(const experiment::Plan& plan);

/// Does nothing without a section [capacity], or if it has no jobs. Of several runs, among which --strategy chooses,
/// one has to be accepted. Errors: ScenarioError for a grid of several points, for jobs whose training the scenario
/// refuses, or whose size it does not have, for too many jobs, and for servers that fail too often before the
/// beginning.
void check(const experiment::Plan& plan);

}  // namespace simgrad::capacity
