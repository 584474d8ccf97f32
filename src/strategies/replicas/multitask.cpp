#include "strategies/replicas/multitask.h"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "cluster/ranks/side_stream.h"
#include "strategies/circumstances.h"
#include "strategies/micro_batches.h"
#include "strategies/replicas/compressed_sum.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::ParameterRange;
using training::Learning;

void Multitask::describe(base::Describer& d) {
  constexpr std::array<base::Choice, 3> schedules{
      {{"groups", "each worker has the tasks of its group, and the groups work at one time"},
       {"gang", "all workers have one task after the other; a task's own sum ends before the next task begins"},
       {"sharing", "all workers have one task after the other; sums go on beside the next task"}}};
  constexpr std::array<base::Choice, 2> all_rows{
      {{"share", "a group has its workers' parts of the step's batch, and its gradient counts the more"},
       {"batch", "a group has all rows of the step's batch: the training is that of one device"}}};
  constexpr std::array<base::Choice, 2> all_sizes{
      {{"equal", "groups of nearly equal size"}, {"work", "groups in proportion to the work of their tasks"}}};
  d.choice("schedule", schedule, schedules, "how the tasks share the workers");
  d.choice("rows", rows, all_rows, "the rows of a group (schedule = \"groups\")");
  d.choice("sizes", sizes, all_sizes, "the sizes of groups (rows = \"batch\")");
  d.component("algorithm", algorithm, "how sums are made");
  describe_compression(d, compression);
  refuse_unused_algorithm(d, algorithm.kind(), *compression);
  if (rows == Rows::batch && schedule != Schedule::groups)
    d.refuse("rows",
             "rows = \"batch\" is about groups, but under this schedule every worker has its part of the batch "
             "for all tasks; leave rows out, or set schedule = \"groups\"");
  else if (sizes == Sizes::work && rows != Rows::batch)
    d.refuse("sizes",
             "sizes = \"work\" balances groups that have all rows of a batch, but here every worker has as many "
             "rows, whatever its group; set rows = \"batch\" and schedule = \"groups\", or leave sizes out");
}

std::vector<TaskGroup> Multitask::groups(const Learning& learning, int P) const {
  const models::TaskModel& model = *learning.task_model();
  const std::vector<double> work = work_by_task(model, learning.problem());
  return task_groups(model.tasks(learning.problem()), P, sizes == Sizes::work ? work : std::vector<double>());
}

Tensor Multitask::assembled(const std::vector<Tensor>& replicas, const Learning& learning) const {
  ParameterPieces pieces;
  for (const TaskGroup& group : groups(learning, static_cast<int>(replicas.size()))) {
    if (group.first == 0) continue;
    const auto own = learning.task_model()->own(learning.problem(), group.tasks);
    scatter(gathered(replicas[static_cast<std::size_t>(group.first)], own), own, pieces);
  }
  return pieces.empty() ? replicas.front() : replaced(replicas.front(), std::move(pieces));
}

Traits Multitask::traits(int) const {
  Traits traits{.many_to_many = algorithm->many_to_many()};
  if (schedule != Schedule::groups) return traits;
  traits.recoveries = {cluster::Recovery::restart};  // a lost rank's own parameters are in the last checkpoint alone
  traits.assembly = [its = *this](const std::vector<Tensor>& replicas, const Learning& learning) {
    return its.assembled(replicas, learning);
  };
  return traits;
}

std::optional<Refusal> Multitask::refusal(const Circumstances& circumstances) const {
  if (!circumstances.model.task_model())
    return Refusal{"kind",
                   fmt::format("multitask trains tasks that share layers, but [model] kind = \"{}\" has one task; set "
                               "that to \"multitask_perceptron\", or to \"multimodal_perceptron\" for several sources",
                               circumstances.model_kind)};
  if (const std::string whole = circumstances.needs_whole_gradient(); !whole.empty() && schedule == Schedule::groups)
    return Refusal{"kind", fmt::format("under {} the update of one parameter depends on others, which another "
                                       "group has; take an optimizer that works element by element, without clip_norm",
                                       whole)};
  if (circumstances.shares_by_speed && rows == Rows::batch)
    return Refusal{"rows",
                   "rows = \"batch\" divides a batch equally among a group's workers, but training.partition "
                   "divides it by speed; take another partition, or rows = \"share\""};
  const std::string why = algorithm->refusal(circumstances.cluster);
  return why.empty() ? compression_refusal(compression, circumstances) : std::optional(Refusal{"algorithm", why});
}

void Multitask::operator()(Worker& worker) const {
  schedule == Schedule::groups ? in_groups(worker) : in_turns(worker);
}

void Multitask::in_groups(Worker& worker) const {
  const Learning& learning = worker.learning();
  const int P = worker.workers();
  const TaskGroup its = task_group(groups(learning, P), worker.rank());
  const ParameterRange shared = learning.task_model()->shared(learning.problem());
  const std::vector<ParameterRange> own = learning.task_model()->own(learning.problem(), its.tasks);
  std::vector<int> members(static_cast<std::size_t>(its.size));
  std::iota(members.begin(), members.end(), its.first);
  const Communicator group = worker.comm().subgroup(members);
  const bool all_rows = rows == Rows::batch;
  const Worker::TaskTurn turn = all_rows ? Worker::TaskTurn{.part = worker.rank() - its.first, .parts = its.size}
                                         : Worker::TaskTurn{.part = worker.rank(), .parts = P};

  CompressedSum sum(*compression, *algorithm, worker);
  State state = worker.start();
  while (worker.continues(state)) {
    Tensor g = worker.task_gradient(state.w, its.tasks, turn);
    if (!all_rows) g = (static_cast<double>(P) / its.size) * g;
    ParameterPieces summed{{shared, sum(worker.comm(), values::slice(g, shared.first, shared.count), shared.first)}};
    scatter(sum(group, gathered(g, own), own.front().first), own, summed);
    worker.update(state, replaced(g, std::move(summed)));
  }
}

void Multitask::in_turns(Worker& worker) const {
  const Learning& learning = worker.learning();
  const models::TaskModel& model = *learning.task_model();
  const std::vector<double> work = work_by_task(model, learning.problem());
  const double all_work = std::accumulate(work.begin(), work.end(), 0.0);
  const ParameterRange shared = model.shared(learning.problem());
  CompressedSum sum(*compression, *algorithm, worker);
  cluster::SideStream beside(worker.comm());
  const auto start_sum = [&](const Tensor& part, std::int64_t first) {
    const int number = beside.start([&sum, part, first](const Communicator& comm) { return sum(comm, part, first); });
    if (schedule == Schedule::gang) beside.wait_until_over(number);
  };
  State state = worker.start();
  while (worker.continues(state)) {
    Tensor g, of_shared;
    for (std::size_t t = 0; t < work.size(); ++t) {
      const models::Tasks task{static_cast<std::int64_t>(t), 1};
      g = worker.task_gradient(state.w, task,
                               {.part = worker.rank(),
                                .parts = worker.workers(),
                                .share_of_work = work[t] / all_work,
                                .first = t == 0,
                                .last = t + 1 == work.size()});
      accumulate(worker, of_shared, values::slice(g, shared.first, shared.count));
      const std::vector<ParameterRange> own = model.own(learning.problem(), task);
      start_sum(gathered(g, own), own.front().first);
    }
    start_sum(of_shared, shared.first);
    const std::vector<Tensor> sums = beside.wait_for_all();
    ParameterPieces summed{{shared, sums.back()}};
    for (std::size_t t = 0; t < work.size(); ++t)
      scatter(sums[t], model.own(learning.problem(), {static_cast<std::int64_t>(t), 1}), summed);
    worker.update(state, replaced(g, std::move(summed)));
  }
}

}  // namespace simgrad::strategies
