/// Joint training of several tasks that share parameters, on one pool of workers.
///
/// T tasks, or sources of a mixture, and P workers. schedule = "groups": G = min(T, P) groups of workers, each with
/// tasks of its own, and in memory only the parameters of these. Their own parameters (outputs, towers) are summed in
/// the group, the shared ones over all workers. Under rows = "share" a group of s workers has its s parts of a step's
/// batch, and its gradient counts P/s times, so that each task's gradient is an unbiased estimate of the whole batch's.
/// Under rows = "batch" a group has all rows of the batch, and the training is that of one device. schedule = "gang":
/// all workers make the gradient of one task after the other, each worker on its part of the batch; a task's own
/// parameters are summed before the next task begins. schedule = "sharing": the next task begins at once, and sums go
/// on beside it. Both are the training of one device, too.
/// Source: R. Caruana, "Multitask Learning", Machine Learning, 1997; P. Barham et al., "Pathways: Asynchronous
/// Distributed Dataflow for ML", MLSys 2022 (sub-models of many tasks that share layers; gang scheduling). Cost per
/// step: groups: max over the groups of t_c (its tasks, its rows) + T_allreduce(s, M_own), then
/// T_allreduce(P, M_shared) + t_update; gang: the sum over the tasks in place of the maximum, with s = P; sharing: as
/// gang, without the parts of T_allreduce(P, M_own) that are beside a later t_c.
#pragma once

#include <optional>
#include <vector>

#include "collectives/allreduce.h"
#include "strategies/compression.h"
#include "strategies/replicas/task_groups.h"

namespace simgrad::strategies {

struct Multitask : Strategy {
  static constexpr base::About about{
      .kind = "multitask",
      .summary =
          "each group of workers trains tasks or sources of its own, and all groups train the layers that these share; "
          "or all workers train one task after the other",
      .cost =
          "groups of s workers: max over groups of (t_c + T_allreduce(s, M_own)) + T_allreduce(P, M_shared) + t_update "
          "a step; gang: the sum over the tasks, with s = P; sharing: less what is hidden behind a t_c",
      .source = "R. Caruana, Multitask Learning, 1997; P. Barham et al., Pathways, 2022"};
  enum class Schedule { groups, gang, sharing };
  enum class Rows { share, batch };
  enum class Sizes { equal, work };

  Schedule schedule = Schedule::groups;
  std::optional<Rows> rows;  ///< none: batch where each task has rows of its own, else share
  Sizes sizes = Sizes::equal;
  base::Slot<collectives::Allreduce> algorithm{collectives::allreduces(), "auto"};
  Compression compression = no_compression();

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;

  record::MemoryParts memory(const training::MemoryTerms& terms) const override;

 private:
  std::optional<Refusal> groups_refusal(const Circumstances& circumstances) const;
  bool all_rows(const models::TaskModel& model) const;
  std::vector<TaskGroup> groups(const models::TaskModel& model, const models::Problem& problem, int P) const;
  std::vector<training::TaskTurn> turns(const training::Learning& learning, int worker, int workers) const;
  void in_groups(Worker& worker) const;
  void in_turns(Worker& worker) const;
  /// The parameters to evaluate: the shared ones, which all have, and each task's own from its group.
  Tensor assembled(const std::vector<Tensor>& replicas, const training::Learning& learning) const;
};

}  // namespace simgrad::strategies
