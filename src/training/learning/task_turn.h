/// A gradient of some of a model's tasks among those that a rank makes in one step.
#pragma once

#include <cstdint>
#include <vector>

#include "models/task_model.h"

namespace simgrad::training {

struct TaskTurn {
  models::Tasks tasks;
  std::vector<models::Layer> layers = {};  ///< of these tasks: models::TaskModel::task_layers
  int part = 0, parts = 1;                 ///< its rows: that one of so many shares of the step's batch
  double share_of_row = 1.0;               ///< of the bytes of a row that the step's first turn reads
  double share_of_work = 1.0;              ///< of the work that the rank has in the step
  std::int64_t gradients = 0;              ///< numbers of the gradients that earlier turns of the step have left
  bool first = true, last = true;          ///< of the step's turns

  double flops_a_row() const {
    double flops = 0.0;
    for (const models::Layer& layer : layers) flops += layer.forward_flops + layer.backward_flops;
    return flops;
  }
};

}  // namespace simgrad::training
