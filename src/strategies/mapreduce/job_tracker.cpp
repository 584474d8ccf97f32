#include "strategies/mapreduce/job_tracker.h"

#include <algorithm>
#include <limits>

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
  attempts_.at(static_cast<std::size_t>(worker)) = {.split = split, .start = now, .under_way = true};
  return split;
}

JobTracker::Order JobTracker::finished(int worker, double now) {
  const Attempt attempt = attempts_.at(static_cast<std::size_t>(worker));
  attempts_[static_cast<std::size_t>(worker)].under_way = false;
  Split& split = splits_[static_cast<std::size_t>(attempt.split)];
  bool& done = split.done;
  Order order{.accepted = !done, .split = {}};
  if (!done) took_.insert(std::ranges::upper_bound(took_, now - attempt.start), now - attempt.start);
  if (!done) split.by = worker;
  done = true;
  order.split = assign(worker, now);
  return order;
}

std::optional<int> JobTracker::assign(int worker, double now) {
  if (const auto next = take_next()) return begin(worker, *next, now);
  idle_.push_back(worker);
  if (idle_.size() > 1) return {};  // another has been idle for longer, and has the first copy
  const auto at = next_copy_at();
  return at && *at <= now ? std::optional(start_copy(now).split) : std::nullopt;
}

std::optional<int> JobTracker::take_next() {
  while (!again_.empty()) {
    const int split = again_.front();
    again_.pop_front();
    if (!splits_[static_cast<std::size_t>(split)].done) return split;
  }
  if (static_cast<std::size_t>(started_) < splits_.size()) return started_++;
  return {};
}

std::vector<JobTracker::Copy> JobTracker::lost(int worker, double now) {
  Attempt& attempt = attempts_.at(static_cast<std::size_t>(worker));
  attempt.under_way = false;
  std::erase(idle_, worker);
  for (int s = 0; s < started_; ++s) {
    Split& split = splits_[static_cast<std::size_t>(s)];
    if (split.received || (split.done && split.by != worker)) continue;
    const auto maps_it = [s](const Attempt& each) { return each.under_way && each.split == s; };
    if (!split.done && (attempt.split != s || std::ranges::any_of(attempts_, maps_it))) continue;
    split.done = split.copied = false;
    again_.push_back(s);
  }
  std::vector<Copy> begun;
  while (!idle_.empty()) {
    const auto next = take_next();
    if (!next) break;
    begun.push_back({.worker = idle_.front(), .split = begin(idle_.front(), *next, now)});
    idle_.pop_front();
  }
  return begun;
}

std::optional<int> JobTracker::longest() const {
  const auto end = splits_.begin() + started_;
  const auto found =
      std::find_if(splits_.begin(), end, [](const Split& split) { return !split.done && !split.copied; });
  return found == end ? std::nullopt : std::optional(static_cast<int>(found - splits_.begin()));
}

std::optional<double> JobTracker::next_copy_at() const {
  if (!slow_factor_ || idle_.empty() || took_.empty()) return {};
  const auto split = longest();
  if (!split) return {};
  const std::size_t n = took_.size();
  const double median = (took_[(n - 1) / 2] + took_[n / 2]) / 2.0;
  // With a factor of 1, splits that take as long as the median but for the rounding of dates are not slow.
  constexpr double rounding = 8.0 * std::numeric_limits<double>::epsilon();
  const double start = splits_[static_cast<std::size_t>(*split)].start;
  return start + *slow_factor_ * median + std::max(1e-10 * median, rounding * (start + median));
}

JobTracker::Copy JobTracker::start_copy(double now) {
  const auto split = longest();
  base::check(split && !idle_.empty(), "a copy is of a split that is mapped, by an idle worker");
  const int worker = idle_.front();
  idle_.pop_front();
  splits_[static_cast<std::size_t>(*split)].copied = true;
  return {.worker = worker, .split = begin(worker, *split, now)};
}

}  // namespace simgrad::strategies
