/// Groups of workers, each with tasks of its own, and the parameters that a task alone has.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/task_model.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// The tasks that a worker trains, together with workers first .. first + size - 1.
struct TaskGroup {
  models::Tasks tasks;
  int first = 0;
  int size = 0;

  bool has(int worker) const { return worker >= first && worker < first + size; }
};

/// As many groups as there are tasks, or workers if these are fewer.  work: by task, the work of a row; groups are then
/// in proportion to their tasks' work, by the method of largest remainders. Empty: groups of nearly equal size.
std::vector<TaskGroup> task_groups(std::int64_t tasks, int workers, std::span<const double> work = {});
/// The one of them that has the worker.
TaskGroup task_group(const std::vector<TaskGroup>& groups, int worker);

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
