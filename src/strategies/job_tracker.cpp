#include "strategies/job_tracker.h"

#include <algorithm>

#include "base/errors.h"

namespace simgrad::strategies {

JobTracker::JobTracker(int workers, int splits, std::optional<double> slow_factor, double now)
    : splits_(static_cast<std::size_t>(splits)),
      attempts_(static_cast<std::size_t>(workers)),
      started_(workers),
      slow_factor_(slow_factor) {
  base::check(workers >= 1 && workers <= splits, "every worker has a split to begin with");
  for (int worker = 0; worker < workers; ++worker) begin(worker, worker, now);
}

int JobTracker::begin(int worker, int split, double now) {
  Split& begun = splits_.at(static_cast<std::size_t>(split));
  if (!begun.copied) begun.start = now;
  attempts_.at(static_cast<std::size_t>(worker)) = {.split = split, .start = now};
  return split;
}

JobTracker::Order JobTracker::finished(int worker, double now) {
  const Attempt attempt = attempts_.at(static_cast<std::size_t>(worker));
  bool& done = splits_[static_cast<std::size_t>(attempt.split)].done;
  Order order{.accepted = !done, .split = {}};
  if (!done) took_.insert(std::ranges::upper_bound(took_, now - attempt.start), now - attempt.start);
  done = true;
  if (static_cast<std::size_t>(started_) < splits_.size()) {
    order.split = begin(worker, started_++, now);
  } else {
    idle_.push_back(worker);
    if (idle_.size() > 1) return order;  // who has been idle for longer has the first copy
    if (const auto at = next_copy_at(); at && *at <= now) order.split = start_copy(now).split;
  }
  return order;
}

std::optional<int> JobTracker::longest() const {
  const auto end = splits_.begin() + started_;
  const auto found = std::find_if(splits_.begin(), end, [](const Split& split) { return !split.done && !split.copied; });
  return found == end ? std::nullopt : std::optional(static_cast<int>(found - splits_.begin()));
}

std::optional<double> JobTracker::next_copy_at() const {
  if (!slow_factor_ || idle_.empty()) return {};
  const auto split = longest();
  if (!split) return {};
  const std::size_t n = took_.size();
  const double median = (took_[(n - 1) / 2] + took_[n / 2]) / 2.0;
  return splits_[static_cast<std::size_t>(*split)].start + *slow_factor_ * median;
}

JobTracker::Copy JobTracker::start_copy(double now) {
  const auto split = longest();
  base::check(split && !idle_.empty(), "a copy is of a split that is mapped, by an idle worker");
  const int worker = idle_.front();
  idle_.pop_front();
  splits_[static_cast<std::size_t>(*split)].copied = true;
  ++copies_;
  return {.worker = worker, .split = begin(worker, *split, now)};
}

}  // namespace simgrad::strategies
