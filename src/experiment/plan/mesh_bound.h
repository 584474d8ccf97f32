/// A bound from below on the time of a step of a model that is cut among the ranks of a mesh.
#pragma once

#include <cstddef>
#include <cstdint>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// Seconds from the first task of the first stage to its last one: the order of the schedule, each piece of the model
/// with the times of its layers on the device, and with the exchanges among the ranks that share its products, which
/// nothing hides. Neither hops between stages nor sums among replicas count.
/// Where ranks gather their part's parameters, it is the time of the bytes of these in a step, if that is longer.
/// An exchange of n bytes among t ranks takes 2 (t - 1) / t n over the fastest link of a host for a sum, half of that
/// for one of its halves. Source: P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of
/// Workstations, 2009.
/// Returns 0 where the ranks are unlike, and where a search among stages by their memory or an asynchronous schedule
/// has no such table.  run: whose times are not left to chance.  strategy: the run's, in its settings.  batch: samples
/// of a step.  model, problem: those that decide the times.
double mesh_step_s(const RunPlan& run, std::size_t strategy, std::int64_t batch, const models::Model& model,
                   const models::Problem& problem);

}  // namespace simgrad::experiment
