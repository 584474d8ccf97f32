#include "cluster/recording/history.h"

#include <algorithm>

namespace simgrad::cluster {

void History::add(double until_s, record::TimePart cause) {
  if (!stretches_.empty() && stretches_.back().cause == cause) {
    stretches_.back().until_s = until_s;
    return;
  }
  if (stretches_.size() >= most_) {
    const auto half = stretches_.begin() + static_cast<std::ptrdiff_t>(most_ / 2);
    begin_s_ = std::prev(half)->until_s;
    stretches_.erase(stretches_.begin(), half);
  }
  stretches_.push_back({until_s, cause});
}

void History::copy(double from_s, double to_s, std::vector<Stretch>& to) const {
  if (from_s < begin_s_) to.push_back({std::min(begin_s_, to_s), record::TimePart::wait_other});
  auto at = stretches_.end();
  while (at != stretches_.begin() && std::prev(at)->until_s > from_s) --at;
  for (double since_s = std::max(from_s, begin_s_); at != stretches_.end() && since_s < to_s; ++at) {
    to.push_back({std::min(at->until_s, to_s), at->cause});
    since_s = at->until_s;
  }
}

record::TimeParts Lateness::causes(double arrival_s, const SinceCollective& own, double wait_s) const {
  const double late_s = std::clamp(wait_s, 0.0, std::max(last_s - arrival_s, 0.0));
  record::TimeParts longer;
  double longer_s = 0.0;
  for (std::size_t k = 0; k < record::time_parts; ++k) {
    const auto cause = static_cast<record::TimePart>(k);
    longer[cause] = std::max(0.0, of_last.caused[cause] - own.caused[cause]);
    if (cause == record::TimePart::wait_transfer) longer[cause] += std::max(0.0, of_last.left_s - own.left_s);
    longer_s += longer[cause];
  }
  record::TimeParts causes;
  for (std::size_t k = 0; k < record::time_parts && longer_s > 0.0; ++k) {
    const auto cause = static_cast<record::TimePart>(k);
    causes[cause] = late_s * (longer[cause] / longer_s);
  }
  if (!(longer_s > 0.0)) causes[record::TimePart::wait_other] = late_s;
  causes[record::TimePart::wait_transfer] += std::max(0.0, wait_s - late_s);
  return causes;
}

}  // namespace simgrad::cluster
