#include "cluster/recording/track.h"

#include <algorithm>

#include "cluster/recording/recorder.h"

namespace simgrad::cluster {

void Track::tell(const Interval& interval) {
  const double from_s = std::max(interval.from_s, recorded_until_s_);
  if (!(interval.to_s > from_s)) return;
  recorded_until_s_ = interval.to_s;
  const Interval told{interval.kind, interval.label, from_s, interval.to_s};
  if (keeps_) kept_.push_back(told);
  recorder_.take(*this, told);
}

void Track::record_blocked(double until_s, double transfer_start_s) {
  std::vector<Interval> intervals;
  unrecorded_blocked(intervals, until_s, transfer_start_s);
  for (const Interval& interval : intervals) tell(interval);
}

void Track::tell(const std::vector<Interval>& intervals) {
  std::vector<Interval> all;
  untold(all, intervals);
  for (const Interval& interval : all) tell(interval);
}

void Track::keep(bool on) {
  keeps_ = on;
  kept_.clear();
}

void Track::untold(std::vector<Interval>& intervals, record::Activity kind, double until_s) const {
  const double from_s = intervals.empty() ? recorded_until_s_ : std::max(recorded_until_s_, intervals.back().to_s);
  if (until_s > from_s) intervals.push_back({kind, label_, from_s, until_s});
}

void Track::unrecorded_blocked(std::vector<Interval>& intervals, double until_s, double transfer_start_s) const {
  const double start_s = transfer_start_s < 0.0 ? until_s : std::min(transfer_start_s, until_s);
  untold(intervals, record::Activity::wait, start_s);
  untold(intervals, record::Activity::communicate, until_s);
}

void Track::untold(std::vector<Interval>& intervals, const std::vector<Interval>& told) const {
  double recorded_until_s = intervals.empty() ? recorded_until_s_ : std::max(recorded_until_s_, intervals.back().to_s);
  for (const Interval& interval : told) {
    if (!(interval.to_s > recorded_until_s)) continue;
    if (interval.from_s > recorded_until_s)
      intervals.push_back({record::Activity::wait, interval.label, recorded_until_s, interval.from_s});
    intervals.push_back({interval.kind, interval.label, std::max(recorded_until_s, interval.from_s), interval.to_s});
    recorded_until_s = interval.to_s;
  }
}

}  // namespace simgrad::cluster
