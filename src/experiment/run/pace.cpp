#include "experiment/run/pace.h"

#include <algorithm>
#include <utility>

namespace simgrad::experiment {

namespace {

struct Mean {
  double sum = 0.0;
  int count = 0;

  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return sum / count; }
};

}  // namespace

Pace::Pace(std::vector<std::string> groups, int jobs)
    : groups_(std::move(groups)), runs_(groups_.size()), jobs_(std::max(jobs, 1)) {}

void Pace::at(std::size_t run, double share, double elapsed_s) {
  // The first steps are not typical: processes start, memory is touched for the first time.
  constexpr double share_least = 0.05, elapsed_least_s = 0.2;
  Run& known = runs_.at(run);
  known.elapsed_s = elapsed_s;
  if (share >= share_least && elapsed_s >= elapsed_least_s) known.total_s = elapsed_s / std::min(share, 1.0);
}

void Pace::ended(std::size_t run, double wall_s) {
  runs_.at(run) = {.elapsed_s = wall_s, .total_s = wall_s, .ended = true};
}

std::optional<double> Pace::left_s() const {
  std::map<std::string, Mean> of_group;
  Mean of_all;
  for (std::size_t i = 0; i < runs_.size(); ++i)
    if (runs_[i].total_s) {
      of_group[groups_[i]].add(*runs_[i].total_s);
      of_all.add(*runs_[i].total_s);
    }
  if (of_all.count == 0) return std::nullopt;
  double sum_s = 0.0, longest_s = 0.0;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    if (run.ended) continue;
    const auto group = of_group.find(groups_[i]);
    const double total_s = run.total_s.value_or(group == of_group.end() ? of_all.value() : group->second.value());
    const double left_s = std::max(0.0, total_s - run.elapsed_s);
    sum_s += left_s;
    longest_s = std::max(longest_s, left_s);
  }
  return std::max(sum_s / jobs_, longest_s);
}

}  // namespace simgrad::experiment
