#include "strategies/replicas/task_groups.h"

#include <algorithm>

#include "base/errors.h"
#include "training/partitions/partition.h"
#include "training/partitions/proportions.h"

namespace simgrad::strategies {

using models::ParameterRange;
using training::stretch;

std::vector<TaskGroup> task_groups(std::int64_t tasks, int workers, std::span<const double> work) {
  const auto groups = static_cast<int>(std::min<std::int64_t>(tasks, workers));
  std::vector<TaskGroup> all(static_cast<std::size_t>(groups));
  std::vector<double> weights;
  for (int g = 0; g < groups; ++g) {
    TaskGroup& group = all[static_cast<std::size_t>(g)];
    group.tasks.first = stretch(tasks, g, groups);
    group.tasks.count = stretch(tasks, g + 1, groups) - group.tasks.first;
    group.first = static_cast<int>(stretch(workers, g, groups));
    group.size = static_cast<int>(stretch(workers, g + 1, groups)) - group.first;
    double its = 0.0;
    for (std::int64_t t = 0; t < group.tasks.count && !work.empty(); ++t)
      its += work[static_cast<std::size_t>(group.tasks.first + t)];
    weights.push_back(its);
  }
  if (work.empty()) return all;
  const std::vector<std::int64_t> starts = training::apportioned(workers, weights);
  for (std::size_t g = 0; g < all.size(); ++g) {
    all[g].first = static_cast<int>(starts[g]);
    all[g].size = static_cast<int>(starts[g + 1] - starts[g]);
  }
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

Tensor gathered(const Tensor& w, std::span<const ParameterRange> stretches) {
  std::vector<Tensor> all;
  for (const ParameterRange& range : stretches) all.push_back(values::slice(w, range.first, range.count));
  return all.size() == 1 ? all.front() : values::concatenate(all);
}

void scatter(const Tensor& numbers, std::span<const ParameterRange> stretches, ParameterPieces& pieces) {
  std::int64_t at = 0;
  for (const ParameterRange& range : stretches) {
    pieces.emplace_back(range, values::slice(numbers, at, range.count));
    at += range.count;
  }
}

Tensor replaced(const Tensor& w, ParameterPieces pieces) {
  std::ranges::sort(pieces, {}, [](const auto& piece) { return piece.first.first; });
  std::vector<Tensor> all;
  std::int64_t at = 0;
  for (const auto& [range, numbers] : pieces) {
    if (range.first > at) all.push_back(values::slice(w, at, range.first - at));
    all.push_back(numbers);
    at = range.first + range.count;
  }
  if (at < w.size()) all.push_back(values::slice(w, at, w.size() - at));
  return values::concatenate(all);
}

}  // namespace simgrad::strategies
