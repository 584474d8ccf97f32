#include "strategies/job_tracker.h"

#include <algorithm>

#include "base/errors.h"

namespace simgrad::strategies {

JobTracker::JobTracker(int workers, int splits, bool speculative)
    : splits_(static_cast<std::size_t>(splits)), started_(workers), speculative_(speculative) {
  base::check(workers >= 1 && workers <= splits, "every worker has a split to begin with");
}

JobTracker::Order JobTracker::finished(int split) {
  bool& done = splits_.at(static_cast<std::size_t>(split)).done;
  const bool first = !done;
  done = true;
  return {.accepted = first, .split = next()};
}

std::optional<int> JobTracker::next() {
  if (static_cast<std::size_t>(started_) < splits_.size()) return started_++;
  if (!speculative_) return {};
  const auto slowest = std::ranges::find_if(splits_, [](const Split& split) { return !split.done && !split.copied; });
  if (slowest == splits_.end()) return {};
  slowest->copied = true;
  ++copies_;
  return static_cast<int>(slowest - splits_.begin());
}

}  // namespace simgrad::strategies
