#include "strategies/replicas/multitask.h"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "cluster/ranks/side_stream.h"
#include "strategies/circumstances.h"
#include "strategies/micro_batches.h"
#include "strategies/parameter_pieces.h"
#include "strategies/replicas/compressed_sum.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::ParameterRange;
using training::Learning;
using training::TaskTurn;

void Multitask::describe(base::Describer& d) {
  constexpr std::array<base::Choice, 3> schedules{
      {{"groups", "each worker has the tasks of its group, and the groups work at the same time"},
       {"gang", "all workers have one task after the other; a task's own sum ends before the next task begins"},
       {"sharing", "all workers have one task after the other; sums overlap with the next task"}}};
  constexpr std::array<base::Choice, 2> all_rows{
      {{"share",
        "a group has its workers' parts of the step's batch, and its gradient is scaled up to that of the whole batch"},
       {"batch", "a group has all rows of the step's batch, so that the training is that of one device"}}};
  constexpr std::array<base::Choice, 2> all_sizes{
      {{"equal", "groups of nearly equal size"},
       {"work", "in proportion to the work of their tasks, for workers of one speed"}}};
  d.choice("schedule", schedule, schedules, "how the tasks share the workers");
  d.choice(
      "rows", rows,
      {"as_the_model", "\"batch\" where each task has rows of its own, as a source of a mixture has; else \"share\""},
      all_rows, "the rows of a group (schedule = \"groups\")");
  d.choice("sizes", sizes, all_sizes, "the sizes of groups (rows = \"batch\")");
  d.component("algorithm", algorithm, "how sums are made");
  describe_compression(d, compression);
  refuse_unused_algorithm(d, algorithm.kind(), *compression);
  describe_hosts_first(d, algorithm.kind());
  if (rows && schedule != Schedule::groups)
    d.refuse("rows",
             "rows says which rows a group has, but under this schedule every worker has its part of the batch "
             "for all tasks; leave rows out, or set schedule = \"groups\"");
  if (sizes == Sizes::work && (schedule != Schedule::groups || rows == Rows::share))
    d.refuse("sizes",
             "sizes = \"work\" balances groups that have all rows of a batch, but here every worker has as many "
             "rows, whatever its group; set rows = \"batch\" and schedule = \"groups\", or leave sizes out");
}

Traits Multitask::traits(int) const {
  Traits traits{.many_to_many = algorithm->many_to_many(), .passes = Traits::Passes::tasks};
  traits.turns = [strategy = *this](const Learning& learning, int worker, int workers) {
    return strategy.turns(learning, worker, workers);
  };
  if (schedule != Schedule::groups) return traits;
  traits.recoveries = {cluster::Recovery::restart};  // a lost rank's own parameters are in the last checkpoint alone
  traits.assembly = [strategy = *this](const std::vector<Tensor>& replicas, const Learning& learning) {
    return strategy.assembled(replicas, learning);
  };
  return traits;
}

std::optional<Refusal> Multitask::refusal(const Circumstances& circumstances) const {
  if (!circumstances.model.task_model())
    return Refusal{"kind",
                   fmt::format("multitask trains tasks that share layers, but [model] kind = \"{}\" has one task; set "
                               "that to \"multitask_perceptron\", or to \"multimodal_perceptron\" for several sources",
                               circumstances.model_kind)};
  if (auto refused = schedule == Schedule::groups ? groups_refusal(circumstances) : std::nullopt) return refused;
  const std::string why = algorithm->refusal(circumstances.cluster);
  return why.empty() ? compression_refusal(compression, circumstances) : std::optional(Refusal{"algorithm", why});
}

void Multitask::operator()(Worker& worker) const {
  schedule == Schedule::groups ? in_groups(worker) : in_turns(worker);
}

void Multitask::in_groups(Worker& worker) const {
  const Learning& learning = worker.learning();
  const models::TaskModel& model = *learning.task_model();
  const int P = worker.workers();
  const TaskGroup own_group = task_group(groups(model, learning.problem(), P), worker.rank());
  const ParameterRange shared = model.shared(learning.problem());
  const std::vector<ParameterRange> own = model.own(learning.problem(), own_group.tasks);
  std::vector<int> members(static_cast<std::size_t>(own_group.size));
  std::iota(members.begin(), members.end(), own_group.first);
  const Communicator group = worker.comm().subgroup(members);
  const TaskTurn turn = turns(learning, worker.rank(), P).front();

  CompressedSum sum(*compression, *algorithm, worker);
  State state = worker.start();
  worker.has_parameters(length(own) + shared.count);
  while (worker.continues(state)) {
    Tensor g = worker.task_gradient(state.w, turn);
    if (!all_rows(model)) g = (static_cast<double>(P) / own_group.size) * g;
    ParameterPieces summed{{shared, sum(worker.comm(), values::slice(g, shared.first, shared.count), shared.first)}};
    scatter(sum(group, gathered(g, own), own.front().first), own, summed);
    worker.update(state, replaced(g, std::move(summed)));
  }
}

void Multitask::in_turns(Worker& worker) const {
  const Learning& learning = worker.learning();
  const models::TaskModel& model = *learning.task_model();
  const ParameterRange shared = model.shared(learning.problem());
  CompressedSum sum(*compression, *algorithm, worker);
  cluster::SideStream beside(worker.comm());
  const auto start_sum = [&](const Tensor& part, std::int64_t first) {
    const int number = beside.start([&sum, part, first](const Communicator& comm) { return sum(comm, part, first); });
    if (schedule == Schedule::gang) beside.wait_until_over(number);
  };
  const std::vector<TaskTurn> task_turns = turns(learning, worker.rank(), worker.workers());
  std::vector<std::vector<ParameterRange>> own;  // by turn
  for (const TaskTurn& turn : task_turns) own.push_back(model.own(learning.problem(), turn.tasks));
  State state = worker.start();
  while (worker.continues(state)) {
    Tensor g, of_shared;
    for (std::size_t t = 0; t < task_turns.size(); ++t) {
      g = worker.task_gradient(state.w, task_turns[t]);
      accumulate(worker, of_shared, values::slice(g, shared.first, shared.count));
      start_sum(gathered(g, own[t]), own[t].front().first);
    }
    start_sum(of_shared, shared.first);
    const std::vector<Tensor> sums = beside.wait_for_all();
    ParameterPieces summed{{shared, sums.back()}};
    for (std::size_t t = 0; t < task_turns.size(); ++t) scatter(sums[t], own[t], summed);
    worker.update(state, replaced(g, std::move(summed)));
  }
}

}  // namespace simgrad::strategies
