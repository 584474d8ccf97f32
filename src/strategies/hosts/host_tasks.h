/// Gradients of tasks that the devices of a host make together.
///
/// The parameters that a turn is the first to need go around the host before it, and the gradients of its tasks' own
/// parameters come back after it. Those of shared parameters come back with the last turn of a step: each device adds
/// up its own until then, as it does over micro-batches.
#pragma once

#include <vector>

#include "cluster/ranks/communicator.h"
#include "training/learning/task_turn.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// The first device's side.  turn: of the worker's rows.
values::Tensor make_task_gradient(training::Worker& first, const cluster::Communicator& devices,
                                  const values::Tensor& w, const training::TaskTurn& turn);

/// The other devices' side.  turns: of a step, of the worker's rows.
void assist_with_tasks(training::Worker& device, const std::vector<training::TaskTurn>& turns);

}  // namespace simgrad::strategies
