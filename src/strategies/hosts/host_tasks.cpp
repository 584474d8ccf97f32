#include "strategies/hosts/host_tasks.h"

#include <utility>

#include "strategies/hosts/around_host.h"
#include "strategies/micro_batches.h"
#include "strategies/parameter_pieces.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::ParameterRange;
using record::MemoryPart;
using training::TaskTurn;
using training::Worker;
using values::Tensor;

namespace {

/// The stretches of parameters whose messages belong to a turn.
struct TurnStretches {
  std::vector<ParameterRange> shown, summed;

  TurnStretches(const training::Learning& learning, const TaskTurn& turn)
      : shown(learning.task_model()->own(learning.problem(), turn.tasks)), summed(shown) {
    const ParameterRange shared = learning.task_model()->shared(learning.problem());
    if (turn.first) shown.push_back(shared);
    if (turn.last) summed.push_back(shared);
  }
};

/// A turn over the rows of one of a worker's devices.
TaskTurn of_device(TaskTurn turn, int device, int devices) {
  turn.part = turn.part * devices + device;
  turn.parts *= devices;
  return turn;
}

Tensor with_stretches(const Tensor& w, const Tensor& numbers, const std::vector<ParameterRange>& stretches) {
  ParameterPieces pieces;
  scatter(numbers, stretches, pieces);
  return replaced(w, std::move(pieces));
}

}  // namespace

Tensor make_task_gradient(Worker& first, const Communicator& devices, const Tensor& w, const TaskTurn& turn) {
  const TurnStretches stretches(first.learning(), turn);
  const Tensor needed = gathered(w, stretches.shown);
  around_host(first, devices, needed, needed.size());
  const Tensor g = first.device_task_gradient(w, of_device(turn, 0, devices.size()));
  return with_stretches(g, sum_on_first(devices, gathered(g, stretches.summed), first.number_bytes().wire),
                        stretches.summed);
}

void assist_with_tasks(Worker& device, const std::vector<TaskTurn>& turns) {
  const Communicator& devices = device.comm();
  const training::Learning& learning = device.learning();
  const ParameterRange shared = learning.task_model()->shared(learning.problem());
  Tensor w = learning.initial_values();  // other workers' tasks keep them
  std::vector<std::pair<TurnStretches, TaskTurn>> own;
  std::int64_t parameters = 0;
  for (const TaskTurn& turn : turns) {
    own.emplace_back(TurnStretches(learning, turn), of_device(turn, device.device(), devices.size()));
    parameters += length(own.back().first.shown);
  }
  device.memory().raise(MemoryPart::parameters, device.number_bytes().parameter * static_cast<double>(parameters));
  for (;;) {
    Tensor of_shared;
    for (const auto& [stretches, turn] : own) {
      const Tensor shown = around_host(device, devices, {}, length(stretches.shown)).tensor;
      w = with_stretches(w, values::decoded(shown), stretches.shown);
      Tensor g = device.device_task_gradient(w, turn);
      accumulate(device, of_shared, values::slice(g, shared.first, shared.count));
      if (turn.last) g = with_stretches(g, of_shared, {shared});
      sum_on_first(devices, gathered(g, stretches.summed), device.number_bytes().wire);
    }
    device.memory().set(MemoryPart::gradients, 0.0);
  }
}

}  // namespace simgrad::strategies
