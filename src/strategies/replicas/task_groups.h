/// Groups of workers, each with tasks of its own, and the turns of tasks that follow each other.
#pragma once

#include <cstdint>
#include <span>
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

/// The turns of a step in which one task follows the other, over that part of its rows.
std::vector<training::TaskTurn> turn_by_task(const training::Learning& learning, int part, int parts);

/// Flops of a row's gradient, by task.
std::vector<double> work_by_task(const models::TaskModel& model, const models::Problem& problem);

}  // namespace simgrad::strategies
