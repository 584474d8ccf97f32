#include "cluster/ranks/account.h"

#include <algorithm>

#include "record/record.h"

namespace simgrad::cluster {

void Account::settle(double now, double transfer_start_s) {
  add_until(now, transfer_start_s);
  if (!track_) return;
  switch (state_) {
    case State::waiting:
      return track_->record(record::Activity::wait, now);
    case State::computing:
      return track_->record(record::Activity::compute, now);
    case State::communicating:
      return track_->record(record::Activity::communicate, now);
    case State::down:
      return track_->record(record::Activity::down, now);
    case State::blocked:
      return track_->record_blocked(now, transfer_start_s);
  }
}

void Account::add_until(double now, double transfer_start_s) {
  switch (state_) {
    case State::waiting:
      wait_s_ += now - since_;
      break;
    case State::computing:
      compute_s_ += now - since_;
      break;
    case State::communicating:
      communicate_s_ += now - since_;
      break;
    case State::down:
      down_s_ += now - since_;
      break;
    case State::blocked: {
      const double start = transfer_start_s < 0.0 ? now : std::clamp(transfer_start_s, since_, now);
      wait_s_ += start - since_;
      communicate_s_ += now - start;
      break;
    }
  }
  since_ = now;
}

void Account::leave_divided(double now, double compute_s, double communicate_s) {
  compute_s_ += compute_s;
  communicate_s_ += communicate_s;
  wait_s_ += std::max(0.0, now - since_ - compute_s - communicate_s);
  since_ = now;
  state_ = State::waiting;
  Track* const track = track_;  // the last span may end the recording
  if (!track) return;
  track->record(record::Activity::wait, now);
  track->rest();
}

void Account::add_to(record::RankUse& use) const {
  use.compute_s += compute_s_;
  use.communicate_s += communicate_s_;
  use.wait_s += wait_s_;
  use.down_s += down_s_;
}

}  // namespace simgrad::cluster
