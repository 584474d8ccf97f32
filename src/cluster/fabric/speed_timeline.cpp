#include "cluster/fabric/speed_timeline.h"

#include <limits>

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

double SpeedTimeline::seconds(double now, double work_s) {
  while (ahead(0) && ahead_.front().at_s <= now) {
    factor_ = ahead_.front().factor;
    ahead_.pop_front();
  }
  double factor = factor_, left_s = work_s, since = now;
  for (std::size_t place = 0;; ++place) {
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
