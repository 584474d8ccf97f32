/// Groups with tasks of their own: their turns, their conditions, and the memory that groups and turns take.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strategies/circumstances.h"
#include "strategies/parameter_pieces.h"
#include "strategies/replicas/multitask.h"
#include "training/learning/learning.h"
#include "training/memory/pass_memory.h"

namespace simgrad::strategies {

using models::ParameterRange;
using record::MemoryPart;
using training::Learning;
using training::MemoryTerms;
using training::TaskTurn;

bool Multitask::all_rows(const models::TaskModel& model) const {
  return rows.value_or(model.tasks_have_rows() ? Rows::batch : Rows::share) == Rows::batch;
}

std::vector<TaskGroup> Multitask::groups(const models::TaskModel& model, const models::Problem& problem, int P) const {
  const bool by_work = sizes == Sizes::work;
  return task_groups(model.tasks(problem), P, by_work ? work_by_task(model, problem) : std::vector<double>());
}

Tensor Multitask::assembled(const std::vector<Tensor>& replicas, const Learning& learning) const {
  ParameterPieces pieces;
  const auto P = static_cast<int>(replicas.size());
  for (const TaskGroup& group : groups(*learning.task_model(), learning.problem(), P)) {
    if (group.first == 0) continue;
    const auto own = learning.task_model()->own(learning.problem(), group.tasks);
    scatter(gathered(replicas[static_cast<std::size_t>(group.first)], own), own, pieces);
  }
  return pieces.empty() ? replicas.front() : replaced(replicas.front(), std::move(pieces));
}

std::vector<TaskTurn> Multitask::turns(const Learning& learning, int worker, int workers) const {
  if (schedule != Schedule::groups) return turn_by_task(learning, worker, workers);
  const models::TaskModel& model = *learning.task_model();
  const TaskGroup own_group = task_group(groups(model, learning.problem(), workers), worker);
  const bool whole = all_rows(model);
  return {{.tasks = own_group.tasks,
           .layers = model.task_layers(learning.problem(), own_group.tasks),
           .part = whole ? worker - own_group.first : worker,
           .parts = whole ? own_group.size : workers,
           .share_of_row = model.share_of_row(learning.problem(), own_group.tasks)}};
}

std::optional<Refusal> Multitask::groups_refusal(const Circumstances& circumstances) const {
  if (const std::string whole = circumstances.needs_whole_gradient(); !whole.empty())
    return Refusal{"kind",
                   fmt::format("under {} the update of one parameter depends on others, which another group has; "
                               "leave that out, or set schedule = \"gang\" or \"sharing\"",
                               whole)};
  if (circumstances.precision == training::Precision::float16)
    return Refusal{"kind",
                   "under training.precision = \"float16\" all ranks leave an update out together where the "
                   "whole gradient has overflowed, of which a group has a part; use \"bfloat16\", or "
                   "schedule = \"gang\" or \"sharing\""};
  if (!all_rows(*circumstances.model.task_model())) return {};
  if (circumstances.rows_by_rank || circumstances.rows_come_in || circumstances.shares_by_speed)
    return Refusal{"rows",
                   "a group has all rows of a step's batch here (rows = \"batch\"), but training.partition gives "
                   "each worker rows or a share of its own; use partition = \"iid\" with equal shares, or rows "
                   "= \"share\""};
  return {};
}

record::MemoryParts Multitask::memory(const MemoryTerms& terms) const {
  if (!terms.model->task_model()) return training::replica_memory(terms, {});  // of a model that is refused
  const models::TaskModel& model = *terms.model->task_model();
  record::MemoryParts peak;
  if (schedule == Schedule::groups) {
    for (const TaskGroup& group : groups(model, *terms.problem, static_cast<int>(terms.workers))) {
      MemoryTerms of_group = terms;
      of_group.layers = model.task_layers(*terms.problem, group.tasks);
      if (all_rows(model)) of_group.rows = (terms.batch + group.size - 1) / group.size;
      const record::MemoryParts group_memory = training::replica_memory(of_group, {});
      if (group_memory.sum() > peak.sum()) peak = group_memory;
    }
    return peak;
  }
  training::Ledger ledger;
  ledger.raise(MemoryPart::parameters, terms.parameters() * terms.bytes.parameter);
  ledger.raise(MemoryPart::optimizer, terms.parameters() * terms.optimizer_bytes());
  std::int64_t gradients = 0;
  for (std::int64_t t = 0; t < model.tasks(*terms.problem); ++t) {
    const std::vector<models::Layer> layers = model.task_layers(*terms.problem, {t, 1});
    training::PassMemory(ledger, layers, training::Recompute::none, terms.bytes, terms.rows, gradients)
        .go_there_and_back();
    if (t == 0) gradients += model.shared(*terms.problem).count;
    gradients += length(model.own(*terms.problem, {t, 1}));
  }
  return ledger.peak();
}

}  // namespace simgrad::strategies
