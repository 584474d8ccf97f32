#include "cluster/recording/track.h"

#include <algorithm>

#include "cluster/recording/recorder.h"

namespace simgrad::cluster {

void Track::record(const Interval& interval) {
  const double from_s = std::max(interval.from_s, recorded_until_s_);
  if (!(interval.to_s > from_s)) return;
  recorded_until_s_ = interval.to_s;
  const Interval rest{interval.kind, interval.label, from_s, interval.to_s, interval.cause};
  if (buffers_) buffered_.push_back(rest);
  recorder_.take(*this, rest);
}

void Track::record_blocked(double until_s, double transfer_start_s) {
  std::vector<Interval> intervals;
  unrecorded_blocked(intervals, until_s, transfer_start_s);
  for (const Interval& interval : intervals) record(interval);
}

void Track::record(const std::vector<Interval>& intervals) {
  std::vector<Interval> all;
  unrecorded(all, intervals);
  for (const Interval& interval : all) record(interval);
}

void Track::buffer(bool on, double now) {
  buffers_ = on;
  buffered_.clear();
  if (!on) return;
  for (const Interval& interval : ahead_)
    if (interval.to_s > now) buffered_.push_back(interval);
}

std::vector<Interval> Track::buffered(double until_s) const {
  std::vector<Interval> all;
  for (Interval interval : buffered_) {
    interval.to_s = std::min(interval.to_s, until_s);
    if (interval.to_s > interval.from_s) all.push_back(interval);
  }
  return all;
}

void Track::taken_ahead(const Interval& interval, double now) {
  recorded_until_s_ = std::max(recorded_until_s_, interval.to_s);
  if (main_) return;
  if (buffers_) buffered_.push_back(interval);
  if (!ahead_.empty() && !(ahead_.back().to_s > now)) ahead_.clear();
  if (interval.to_s > now) ahead_.push_back(interval);
}

void Track::unrecorded(std::vector<Interval>& intervals, record::Activity kind, double until_s) const {
  const double from_s = intervals.empty() ? recorded_until_s_ : std::max(recorded_until_s_, intervals.back().to_s);
  if (until_s > from_s) intervals.push_back({kind, label_, from_s, until_s, cause_});
}

void Track::unrecorded_blocked(std::vector<Interval>& intervals, double until_s, double transfer_start_s) const {
  const double start_s = transfer_start_s < 0.0 ? until_s : std::min(transfer_start_s, until_s);
  unrecorded(intervals, record::Activity::wait, start_s);
  unrecorded(intervals, record::Activity::communicate, until_s);
}

void Track::unrecorded(std::vector<Interval>& intervals, const std::vector<Interval>& known) const {
  double until_s = intervals.empty() ? recorded_until_s_ : std::max(recorded_until_s_, intervals.back().to_s);
  for (const Interval& interval : known) {
    if (!(interval.to_s > until_s)) continue;
    if (interval.from_s > until_s)
      intervals.push_back({record::Activity::wait, interval.label, until_s, interval.from_s});
    intervals.push_back(
        {interval.kind, interval.label, std::max(until_s, interval.from_s), interval.to_s, interval.cause});
    until_s = interval.to_s;
  }
}

}  // namespace simgrad::cluster
