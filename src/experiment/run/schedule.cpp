#include "experiment/run/schedule.h"

#include <algorithm>
#include <utility>

namespace simgrad::experiment {

Schedule::Schedule(const std::vector<const RunPlan*>& runs) : size_(runs.size()) {
  std::map<std::string, std::size_t> places;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const std::size_t place = places.try_emplace(runs[run]->data_key(), places.size()).first->second;
    groups_.resize(places.size());
    groups_[place].push_back(run);
    group_of_.push_back(place);
  }
}

std::optional<std::size_t> Schedule::take(const std::function<bool(std::size_t run)>& may_start) {
  for (std::deque<std::size_t>& group : groups_) {
    const auto found = std::ranges::find_if(group, may_start);
    if (found == group.end()) continue;
    const std::size_t run = *found;
    group.erase(found);
    --size_;
    return run;
  }
  return std::nullopt;
}

std::size_t Schedule::count_if(const std::function<bool(std::size_t run)>& fits, std::size_t most) const {
  std::size_t found = 0;
  for (const std::deque<std::size_t>& group : groups_)
    for (std::size_t i = 0; i < group.size() && found < most; ++i) found += fits(group[i]) ? 1 : 0;
  return found;
}

void Schedule::put_back(std::size_t run) {
  groups_[group_of_[run]].push_front(run);
  ++size_;
}

std::size_t Schedule::remove_if(const std::function<bool(std::size_t run)>& unwanted) {
  std::size_t removed = 0;
  for (std::deque<std::size_t>& group : groups_) removed += std::erase_if(group, unwanted);
  size_ -= removed;
  return removed;
}

void Schedule::sort_by(const std::function<double(std::size_t run)>& expected_s) {
  for (std::deque<std::size_t>& group : groups_) {
    std::vector<std::pair<double, std::size_t>> all;
    for (const std::size_t run : group) all.emplace_back(-expected_s(run), run);
    std::ranges::stable_sort(all, {}, &std::pair<double, std::size_t>::first);
    std::ranges::transform(all, group.begin(), &std::pair<double, std::size_t>::second);
  }
}

}  // namespace simgrad::experiment
