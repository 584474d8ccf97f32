#include "experiment/run/pace.h"

#include <algorithm>

namespace simgrad::experiment {

Pace::Pace(const std::vector<std::string>& groups, int jobs) : jobs_(std::max(jobs, 1)) {
  for (const std::string& name : groups) {
    group_of_.push_back(groups_.try_emplace(name).first);
    ++group_of_.back()->second.waiting;
  }
}

void Pace::regroup(std::size_t run, const std::string& group) {
  const bool waits = !under_way_.contains(run);
  if (waits) --group_of_.at(run)->second.waiting;
  group_of_[run] = groups_.try_emplace(group).first;
  if (waits) ++group_of_[run]->second.waiting;
}

void Pace::at(std::size_t run, double share, double elapsed_s) {
  // The first steps are not typical: processes start, memory is touched for the first time.
  constexpr double share_least = 0.05, elapsed_least_s = 0.2;
  const auto [known, fresh] = under_way_.try_emplace(run);
  if (fresh) --group_of_.at(run)->second.waiting;
  known->second.elapsed_s = elapsed_s;
  known->second.share = std::clamp(share, 0.0, 1.0);
  if (share >= share_least && elapsed_s >= elapsed_least_s) known->second.total_s = elapsed_s / std::min(share, 1.0);
}

void Pace::ended(std::size_t run, double wall_s) {
  Group& group = group_of_.at(run)->second;
  if (under_way_.erase(run) == 0) --group.waiting;
  group.ended.add(wall_s);
}

void Pace::removed(std::size_t run) {
  if (under_way_.erase(run) == 0) --group_of_.at(run)->second.waiting;
}

std::optional<double> Pace::left_s() const {
  std::map<const Group*, Mean> of_group;
  Mean of_all;
  for (const auto& [name, group] : groups_) {
    of_group[&group] = group.ended;
    of_all.sum += group.ended.sum;
    of_all.count += group.ended.count;
  }
  for (const auto& [run, so_far] : under_way_)
    if (so_far.total_s) {
      of_group[&group_of_[run]->second].add(*so_far.total_s);
      of_all.add(*so_far.total_s);
    }
  if (of_all.count == 0) return std::nullopt;
  double sum_s = 0.0, longest_s = 0.0;
  const auto expected_s = [&](const Group& group) { return of_group[&group].value().value_or(*of_all.value()); };
  for (const auto& [name, group] : groups_) {
    if (group.waiting == 0) continue;
    sum_s += group.waiting * expected_s(group);
    longest_s = std::max(longest_s, expected_s(group));
  }
  for (const auto& [run, so_far] : under_way_) {
    const double left_s = so_far.total_s ? std::max(0.0, *so_far.total_s - so_far.elapsed_s)
                                         : (1.0 - so_far.share) * expected_s(group_of_[run]->second);
    sum_s += left_s;
    longest_s = std::max(longest_s, left_s);
  }
  return std::max(sum_s / jobs_, longest_s);
}

}  // namespace simgrad::experiment
