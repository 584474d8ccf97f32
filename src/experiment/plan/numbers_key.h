/// Which runs compute the same numbers, whatever their clusters' timing.
#pragma once

#include <string>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// Whether the run's numbers decide about its times: how far parameters move, or where a router sends tokens to experts
/// of a cut model.
bool times_follow_numbers(const RunPlan& run);

/// A hash of all that the states of a synchronous run depend on: data, model, training, strategy, workers and seed, but
/// neither network nor hosts, and no rule that ends the run. Runs with equal keys go through the same states. Empty
/// where time decides about numbers: asynchronous strategies, failures, time limits, evaluations by time, rows that
/// come in during the training, shares by speed, jobs side by side; and where the numbers decide about time
/// (times_follow_numbers, keys of sparse rows).
std::string numbers_key(const RunPlan& run);

}  // namespace simgrad::experiment
