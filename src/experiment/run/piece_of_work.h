/// One piece of work of an experiment, in its own process.
#pragma once

#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/runner.h"
#include "experiment/run/simulate.h"

namespace simgrad::experiment {

/// Files of states of the training; empty names: none.
struct StateFiles {
  std::string from;     ///< the run goes on from this state; if it is not whole, the run computes everything
  std::string to;       ///< takes the run's last state, if computing it again takes long, or
  bool shared = false;  ///< several runs have their numbers in common
};

/// Simulates one piece of work. Returns {"run": ..., "unwritten": "the fault of a file beside the record, or none",
/// "numbers": those to keep, "told": "a remark for the user, or none"}, or {"lacking": true, "told": ...} if not all
/// numbers of the run are known that it does not compute, or {"meet": "link"} if its collectives must go message by
/// message.  runs: those of the plan that the work stands for.
std::string simulated(const RunPlan& plan, const std::vector<const RunPlan*>& runs, const Data& data, Numbers numbers,
                      const StateFiles& states, int threads, const RunnerOptions& options, training::Pulse* pulse);

}  // namespace simgrad::experiment
