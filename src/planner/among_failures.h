/// The expected course of a training among failures: its time in closed form, and its money and energy.
///
/// Source: capacity/expected_time.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capacity/computing.h"
#include "capacity/expected_time.h"
#include "planner/rank.h"
#include "planner/reliability.h"

namespace simgrad::planner {

struct Interrupted {
  int spares = 0;
  double interval_s = 0.0;   ///< work between two checkpoints that are written; infinite: there are none
  capacity::Computing work;  ///< from one safe state to the next: a checkpoint, or a step in memory
  capacity::JobFailures failures;
  double with_servers_s = 0.0;  ///< the mean time by the closed form without the waits for repairs
  double formula_s = 0.0;       ///< the mean time by the closed form
  double time_s = 0.0;          ///< as it is shown: by the closed form, or by simulation
  double goodput() const { return work.work_s / time_s; }
  double failures_expected() const { return time_s * (with_servers_s / formula_s) / failures.mtbf_s; }
};

struct WithFailures {
  Measures measures;
  Interrupted interrupted;
};

/// Values within this share of the best are as good.
inline constexpr double as_good = 1e-3;

/// The one that the goal prefers: the fewest spares that are as good as the best.  all: ascending, not
/// empty.
const WithFailures& preferred(const std::vector<WithFailures>& all, const experiment::Goal& goal);

/// The measures of a training among failures, with each number of spares.
/// undisturbed: by the runs that time it.  step_s: of one step.  correction: of the closed form's time with so many
/// spares.
std::vector<WithFailures> with_failures(const Reliability& reliability, const Measures& undisturbed, double step_s,
                                        const capacity::CheckpointTimes& checkpoint,
                                        const std::function<double(int spares)>& correction);

/// Measures of which with_failures() never has less.  undisturbed: at the prices of the runs that time it, and not
/// above those of with_failures().
Measures least_with_failures(const Reliability& reliability, const Measures& undisturbed);

/// The reason why hardly any of the training's time is useful work.
std::string why_hopeless(const Reliability& reliability, const Interrupted& course);

}  // namespace simgrad::planner
