#include "cluster/ranks/account.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "record/record.h"

namespace simgrad::cluster {

using record::Activity;
using record::TimePart;
using record::TimeParts;

namespace {

constexpr auto first_cause = static_cast<std::size_t>(TimePart::wait_gradient);
constexpr auto last_cause = static_cast<std::size_t>(TimePart::down);  ///< not one of them

}  // namespace

void Account::begin(double now, bool server) {
  constexpr std::size_t most_of_worker = 128, most_of_server = 8192;  // a server does something for every worker
  since_ = now;
  server_ = server;
  history_.begin(now, server ? most_of_server : most_of_worker);
}

void Account::enter(State state, double now, TimePart part) {
  settle(now);
  state_ = state;
  part_ = part;
}

void Account::leave(double now, double transfer_start_s, std::span<const Stretch> causes) {
  settle(now, transfer_start_s, causes);
  state_ = State::waiting;
  if (track_) track_->rest();
}

void Account::settle(double now, double transfer_start_s, std::span<const Stretch> causes) {
  add_until(now, transfer_start_s, causes);
  if (!track_) return;
  Track& track = *track_;  // the last span may end the recording
  tell_cause();
  record(now, transfer_start_s);
  track.set_cause(TimePart::wait_other);
}

void Account::tell_cause() {
  if (!track_) return;
  const TimeParts since = parts_ - told_;
  const bool counted = since.sum(Activity::wait) > 0.0;  // idle time may be recorded before it is counted
  track_->set_cause(counted ? record::longest_wait(since) : within_);
  told_ = parts_;
}

void Account::record(double now, double transfer_start_s) {
  switch (state_) {
    case State::waiting:
      return track_->record(Activity::wait, now);
    case State::computing:
      return track_->record(Activity::compute, now);
    case State::communicating:
      return track_->record(Activity::communicate, now);
    case State::down:
      return track_->record(Activity::down, now);
    case State::blocked:
      return track_->record_blocked(now, transfer_start_s);
  }
}

void Account::add_until(double now, double transfer_start_s, std::span<const Stretch> causes) {
  switch (state_) {
    case State::waiting:
      wait_s_ += now - since_;
      return wait(now, causes);
    case State::computing:
      compute_s_ += now - since_;
      return spend(part_, now);
    case State::communicating:
      communicate_s_ += now - since_;
      return spend(part_, now);
    case State::down:
      down_s_ += now - since_;
      return spend(TimePart::down, now);
    case State::blocked: {
      const double start = transfer_start_s < 0.0 ? now : std::clamp(transfer_start_s, since_, now);
      wait_s_ += start - since_;
      communicate_s_ += now - start;
      wait(start, causes);
      return spend(TimePart::communicate_transfer, now);
    }
  }
}

TimePart Account::cause(TimePart part) const {
  if (within_ == TimePart::wait_checkpoint || within_ == TimePart::wait_recovery) return within_;
  switch (record::activity_of(part)) {
    case Activity::compute:
      if (server_) return TimePart::wait_server;
      return part == TimePart::compute_gradient ? TimePart::wait_gradient : TimePart::wait_worker;
    case Activity::communicate:
      return part == TimePart::communicate_transfer ? TimePart::wait_transfer : TimePart::wait_storage;
    case Activity::wait:
      return part;
    case Activity::down:
      return TimePart::wait_recovery;
  }
  return TimePart::wait_other;
}

TimePart Account::present_cause() const {
  switch (state_) {
    case State::computing:
    case State::communicating:
      return cause(part_);
    case State::down:
      return cause(TimePart::down);
    default:
      return within_;
  }
}

void Account::spend(TimePart part, double until) {
  const double seconds = until - since_;
  if (seconds > 0.0) {
    parts_[part] += seconds;
    be_cause(until, cause(part));
  }
  since_ = until;
}

void Account::be_cause(double until, TimePart cause) {
  const double seconds = until - since_;
  if (!(seconds > 0.0)) return;
  since_ = until;
  caused_[cause] += seconds;
  history_.add(until, cause);
}

void Account::wait(double until, std::span<const Stretch> causes) {
  if (within_ == TimePart::wait_other)
    for (const Stretch& stretch : causes)
      if (const double to = std::min(stretch.until_s, until); to > since_) spend(stretch.cause, to);
  spend(within_, until);
}

/// The end of a state whose seconds are added already.
void Account::leave_divided(double now) {
  since_ = now;
  state_ = State::waiting;
  Track* const track = track_;  // the last span may end the recording
  if (!track) return;
  tell_cause();
  track->record(Activity::wait, now);
  track->set_cause(TimePart::wait_other);
  track->rest();
}

void Account::leave_collective(double now, double compute_s, double communicate_s, const TimeParts& causes) {
  compute_s_ += compute_s;
  communicate_s_ += communicate_s;
  const double wait_s = std::max(0.0, now - since_ - compute_s - communicate_s);
  wait_s_ += wait_s;
  for (std::size_t k = first_cause; k < last_cause; ++k) {
    const auto part = static_cast<TimePart>(k);
    if (!(causes[part] > 0.0)) continue;
    parts_[part] += causes[part];
    be_cause(std::min(since_ + causes[part], now), cause(part));
  }
  parts_[TimePart::wait_other] += std::max(0.0, wait_s - causes.sum(Activity::wait));
  parts_[TimePart::compute_reduction] += compute_s;
  parts_[TimePart::communicate_transfer] += communicate_s;
  be_cause(now, cause(TimePart::communicate_transfer));
  left_collective(now);
  leave_divided(now);
}

void Account::leave_followed(double now, double compute_s, double communicate_s, const TimeParts& parts,
                             std::span<const Stretch> past) {
  compute_s_ += compute_s;
  communicate_s_ += communicate_s;
  const double wait_s = std::max(0.0, now - since_ - compute_s - communicate_s);
  wait_s_ += wait_s;
  for (std::size_t k = 0; k < record::time_parts; ++k)
    parts_[static_cast<TimePart>(k)] += parts[static_cast<TimePart>(k)];
  parts_[TimePart::wait_other] += std::max(0.0, wait_s - parts.sum(Activity::wait));
  for (const Stretch& stretch : past) be_cause(stretch.until_s, stretch.cause);
  be_cause(now, within_);
  leave_divided(now);
}

void Account::replace_causes(const TimeParts& before, const TimeParts& causes) {
  for (std::size_t k = first_cause; k < last_cause; ++k) {
    const auto part = static_cast<TimePart>(k);
    parts_[part] = before[part] + causes[part];
  }
  told_ = parts_;
}

namespace {

/// Takes the rounding of many small sums out of the largest part of an activity.  whole_s: of all activities, whose
/// dates have its precision.
void balance(TimeParts& parts, Activity activity, double seconds, double whole_s) {
  TimePart most = record::first_part(activity);
  for (std::size_t k = 0; k < record::time_parts; ++k)
    if (const auto part = static_cast<TimePart>(k); record::activity_of(part) == activity && parts[part] > parts[most])
      most = part;
  const double off_s = seconds - parts.sum(activity);
  base::check(std::abs(off_s) <= 1e-6 * seconds + 1e-9 + 1e-12 * whole_s, "the parts of a rank's time add up to it");
  parts[most] = std::max(0.0, parts[most] + off_s);
}

}  // namespace

void Account::add_to(record::RankUse& use) const {
  use.compute_s += compute_s_;
  use.communicate_s += communicate_s_;
  use.wait_s += wait_s_;
  use.down_s += down_s_;
  use.parts = parts_;
  const double whole_s = compute_s_ + communicate_s_ + wait_s_ + down_s_;
  balance(use.parts, Activity::compute, compute_s_, whole_s);
  balance(use.parts, Activity::communicate, communicate_s_, whole_s);
  balance(use.parts, Activity::wait, wait_s_, whole_s);
  use.parts[TimePart::down] = down_s_;
}

}  // namespace simgrad::cluster
