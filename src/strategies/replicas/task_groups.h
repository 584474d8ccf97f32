/// Groups of workers, each with tasks of its own, and the parameters that a task alone has.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/task_model.h"
#include "strategies/strategy.h"
#include "training/learning/task_turn.h"

namespace simgrad::strategies {

/// The tasks that a worker trains, together with workers first .. first + size - 1.
struct TaskGroup {
  models::Tasks tasks;
  int first = 0;
  int size = 0;

  bool has(int worker) const { return worker >= first && worker < first + size; }
};

/// As many groups as there are tasks, or workers if these are fewer.  work: by task, the work of a row. Groups are then
/// such that the longest is as short as it can be if all workers are alike: of several workers a group, each worker
/// goes to the group with the most work a worker; of several tasks a group, neighbouring tasks are together. Empty:
/// groups of nearly equal size.
std::vector<TaskGroup> task_groups(std::int64_t tasks, int workers, std::span<const double> work = {});
/// The one of them that has the worker.
TaskGroup task_group(const std::vector<TaskGroup>& groups, int worker);

/// One task of a model whose tasks follow each other on a rank.
struct TaskPasses {
  models::Tasks task;
  std::vector<models::Layer> layers;
  std::vector<models::ParameterRange> own;
  double share_of_work = 1.0;  ///< of the work of all tasks
  std::int64_t gradients = 0;  ///< numbers of the gradients of the tasks before
  bool first = true, last = true;

  /// Its gradient over that part of a step's batch.
  training::TaskTurn turn(int part, int parts) const;
};
std::vector<TaskPasses> passes_by_task(const training::Learning& learning);

/// The number of parameters in these stretches.
std::int64_t length(std::span<const models::ParameterRange> stretches);

/// Flops of a row's gradient, by task.
std::vector<double> work_by_task(const models::TaskModel& model, const models::Problem& problem);

/// Stretches of parameters, with their numbers.
using ParameterPieces = std::vector<std::pair<models::ParameterRange, Tensor>>;
/// The stretches of w, one after the other in one vector.
Tensor gathered(const Tensor& w, std::span<const models::ParameterRange> stretches);
/// Adds the numbers of such a vector to the pieces.
void scatter(const Tensor& numbers, std::span<const models::ParameterRange> stretches, ParameterPieces& pieces);
/// w with the pieces in place of its own numbers there.
Tensor replaced(const Tensor& w, ParameterPieces pieces);

}  // namespace simgrad::strategies
