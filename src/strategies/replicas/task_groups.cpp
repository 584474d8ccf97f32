#include "strategies/replicas/task_groups.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/errors.h"
#include "strategies/parameter_pieces.h"
#include "training/learning/learning.h"
#include "training/partitions/partition.h"

namespace simgrad::strategies {

using training::stretch;

namespace {

/// Workers for each group of one task: the next one goes where a worker has the most to do.
void size_by_work(std::vector<TaskGroup>& groups, int workers, std::span<const double> work) {
  for (TaskGroup& group : groups) group.size = 1;
  const auto longest = [&](const TaskGroup& a, const TaskGroup& b) {
    const double of_a = work[static_cast<std::size_t>(a.tasks.first)],
                 of_b = work[static_cast<std::size_t>(b.tasks.first)];
    return of_a / a.size < of_b / b.size;
  };
  for (auto given = static_cast<int>(groups.size()); given < workers; ++given)
    ++std::ranges::max_element(groups, longest)->size;
  int next = 0;
  for (TaskGroup& group : groups) group.first = std::exchange(next, next + group.size);
}

/// Tasks for each group of one worker, by dynamic programming over where the last group begins.
void deal_by_work(std::vector<TaskGroup>& groups, std::span<const double> work) {
  const std::size_t T = work.size(), G = groups.size();
  std::vector<double> until(T + 1);
  std::partial_sum(work.begin(), work.end(), until.begin() + 1);
  // longest[g][t]: of the first t tasks in g groups.
  std::vector longest(G + 1, std::vector<double>(T + 1, std::numeric_limits<double>::infinity()));
  std::vector begins(G + 1, std::vector<std::size_t>(T + 1));
  longest[0][0] = 0.0;
  for (std::size_t g = 1; g <= G; ++g)
    for (std::size_t t = g; t <= T; ++t)
      for (std::size_t first = g - 1; first < t; ++first)
        if (const double longest_group = std::max(longest[g - 1][first], until[t] - until[first]);
            longest_group < longest[g][t]) {
          longest[g][t] = longest_group;
          begins[g][t] = first;
        }
  for (std::size_t g = G, end = T; g > 0; end = begins[g--][end])
    groups[g - 1].tasks = {static_cast<std::int64_t>(begins[g][end]), static_cast<std::int64_t>(end - begins[g][end])};
}

}  // namespace

std::vector<TaskGroup> task_groups(std::int64_t tasks, int workers, std::span<const double> work) {
  const auto groups = static_cast<int>(std::min<std::int64_t>(tasks, workers));
  std::vector<TaskGroup> all(static_cast<std::size_t>(groups));
  for (int g = 0; g < groups; ++g) {
    TaskGroup& group = all[static_cast<std::size_t>(g)];
    group.tasks.first = stretch(tasks, g, groups);
    group.tasks.count = stretch(tasks, g + 1, groups) - group.tasks.first;
    group.first = static_cast<int>(stretch(workers, g, groups));
    group.size = static_cast<int>(stretch(workers, g + 1, groups)) - group.first;
  }
  if (!work.empty() && tasks <= workers) size_by_work(all, workers, work);
  if (!work.empty() && tasks > workers) deal_by_work(all, work);
  return all;
}

TaskGroup task_group(const std::vector<TaskGroup>& groups, int worker) {
  const auto found = std::ranges::find_if(groups, [&](const TaskGroup& group) { return group.has(worker); });
  base::check(found != groups.end(), "every worker is in a group");
  return *found;
}

std::vector<double> work_by_task(const models::TaskModel& model, const models::Problem& problem) {
  std::vector<double> work;
  for (std::int64_t t = 0; t < model.tasks(problem); ++t) work.push_back(model.task_gradient_flops(problem, 1, {t, 1}));
  return work;
}

std::vector<training::TaskTurn> turn_by_task(const training::Learning& learning, int part, int parts) {
  const models::TaskModel& model = *learning.task_model();
  const std::vector<double> work = work_by_task(model, learning.problem());
  const double all_work = std::accumulate(work.begin(), work.end(), 0.0);
  std::vector<training::TaskTurn> all;
  std::int64_t gradients = 0;
  for (std::size_t t = 0; t < work.size(); ++t) {
    const models::Tasks task{static_cast<std::int64_t>(t), 1};
    all.push_back({.tasks = task,
                   .layers = model.task_layers(learning.problem(), task),
                   .part = part,
                   .parts = parts,
                   .share_of_work = work[t] / all_work,
                   .gradients = gradients,
                   .first = t == 0,
                   .last = t + 1 == work.size()});
    gradients += length(model.own(learning.problem(), task));
    if (t == 0) gradients += model.shared(learning.problem()).count;
  }
  return all;
}

}  // namespace simgrad::strategies
