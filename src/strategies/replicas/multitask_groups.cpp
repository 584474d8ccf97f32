/// Conditions for groups with tasks of their own, and the memory that groups and turns take.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strategies/circumstances.h"
#include "strategies/replicas/multitask.h"
#include "training/memory/pass_memory.h"

namespace simgrad::strategies {

using record::MemoryPart;
using training::MemoryTerms;

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
  const models::TaskModel& model = *terms.model->task_model();
  record::MemoryParts peak;
  if (schedule == Schedule::groups) {
    for (const TaskGroup& group : groups(model, *terms.problem, static_cast<int>(terms.workers))) {
      MemoryTerms of_group = terms;
      of_group.layers = model.task_layers(*terms.problem, group.tasks);
      if (all_rows(model)) of_group.rows = (terms.batch + group.size - 1) / group.size;
      const record::MemoryParts its = training::replica_memory(of_group, {});
      if (its.sum() > peak.sum()) peak = its;
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
