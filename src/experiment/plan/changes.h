/// The changes of a scenario that show which cause binds: twice the bandwidth, no stragglers, ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// A cause, changed for the better.
struct Improvement {
  std::string name;               ///< as outputs::Change has it
  std::vector<std::string> sets;  ///< what --set takes, on top of the scenario and the run's grid point
};

/// The improvements that change anything in the run's scenario. A cause that the scenario does not have is left out:
/// stragglers where there are none, servers where no rank serves on a host of its own, the links of a platform's file.
/// A model that is cut is also tried on other meshes: twice the micro-batches, the schedule zb_h1, tensor innermost, no
/// recomputation.
/// Where hosts or links can fail there is one improvement alone: that they do not.
std::vector<Improvement> improvements(const RunPlan& run);

/// The run of the same strategy and seed at the same grid point, with `sets` laid over the scenario. It has no target,
/// so that the other rules stop it, and computes no numbers where its time does not depend on them. Nothing if the
/// scenario refuses `sets`.
std::optional<RunPlan> varied(const Plan& plan, const RunPlan& run, const std::vector<std::string>& sets);

}  // namespace simgrad::experiment
