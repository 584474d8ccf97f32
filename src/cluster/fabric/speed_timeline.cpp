#include "cluster/fabric/speed_timeline.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

namespace simgrad::cluster {

const SpeedChange* SpeedTimeline::ahead(std::size_t place) {
  while (ahead_.size() <= place && changes_) {
    if (const auto change = changes_->next())
      ahead_.push_back(*change);
    else
      changes_.reset();
  }
  return place < ahead_.size() ? &ahead_[place] : nullptr;
}

void SpeedTimeline::count(std::int64_t changes) const {
  if (changes > most_changes_)
    throw std::runtime_error(
        fmt::format("given up: a host's speed changes more than {} times during one computation or between two; make "
                    "changes rarer, or raise watchdog.events",
                    most_changes_));
}

double SpeedTimeline::seconds(double now, double work_s) {
  for (std::int64_t passed = 0; ahead(0) && ahead_.front().at_s <= now; count(++passed)) {
    factor_ = ahead_.front().factor;
    ahead_.pop_front();
  }
  double factor = factor_, left_s = work_s, since = now;
  for (std::size_t place = 0;; ++place) {
    count(static_cast<std::int64_t>(place));
    const SpeedChange* change = ahead(place);
    const double until = change ? change->at_s : std::numeric_limits<double>::infinity();
    if (factor > 0.0 && left_s <= factor * (until - since)) return since - now + left_s / factor;
    if (!change) return std::numeric_limits<double>::infinity();
    left_s -= factor * (until - since);
    since = until;
    factor = change->factor;
  }
}

}  // namespace simgrad::cluster
