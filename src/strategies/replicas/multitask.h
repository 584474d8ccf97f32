/// Joint training of several tasks on shared layers: groups of workers each train the outputs of their own tasks on
/// their own rows; the shared layers are updated by all of them, in every step.
///
/// T tasks and P workers make G = min(T, P) groups of nearly equal size. A group of s workers has its s parts of a
/// step's batch, and its gradient counts P/s times, so that each task's gradient is an unbiased estimate of the whole
/// batch's. Source: R. Caruana, "Multitask Learning", Machine Learning, 1997; P. Barham et al., "Pathways: Asynchronous
/// Distributed Dataflow for ML", MLSys 2022 (sub-models of many tasks that share layers). Cost per step: t_c of the
/// shared layers and the group's outputs + T_allreduce(P, M_shared) + T_allreduce(s, M_group) + t_update.
#pragma once

#include "collectives/allreduce.h"
#include "models/multitask_perceptron.h"
#include "strategies/compression.h"

namespace simgrad::strategies {

struct Multitask : Strategy {
  static constexpr base::About about{
      .kind = "multitask",
      .summary = "groups of workers train the outputs of their own tasks, and all of them the layers that tasks share",
      .cost = "t_c + T_allreduce(P, M_shared) + T_allreduce(P/T, M_outputs/T) + t_update a step",
      .source = "R. Caruana, Multitask Learning, 1997; P. Barham et al., Pathways, 2022"};

  base::Slot<collectives::Allreduce> algorithm{collectives::allreduces(), "ring"};
  Compression compression = no_compression();

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;
};

/// The tasks that a worker trains, together with workers first .. first + size - 1.
struct TaskGroup {
  models::Tasks tasks;
  int first = 0;
  int size = 0;
};
TaskGroup task_group(std::int64_t tasks, int workers, int worker);

}  // namespace simgrad::strategies
