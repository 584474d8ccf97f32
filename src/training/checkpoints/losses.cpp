#include "training/checkpoints/losses.h"

#include <algorithm>

namespace simgrad::training {

void Losses::secured(double now, double since) {
  since_s_ = since;
  if (!down_since_s_) return;
  if (since < *down_since_s_) {
    lost_s_ = lost_before_s_ + *down_since_s_ - since;
    return;
  }
  // The other ranks have finished the step before they noticed the crash: nothing is lost, and nobody recovered so far.
  lost_s_ = lost_before_s_;
  recovery_s_ = recovery_before_s_;
  down_since_s_ = now;
}

void Losses::crashed(double now) {
  lost_before_s_ = lost_s_;
  recovery_before_s_ = recovery_s_;
  if (now < since_s_)  // in the middle of a restart, which was counted in full
    recovery_s_ -= since_s_ - now;
  else
    lost_s_ += now - since_s_;
  down_since_s_ = now;
}

void Losses::wrote(double now, double cost_s) {
  const double written_s = std::min(cost_s, now - wrote_until_s_);
  const double counted_s = down_since_s_ ? std::max(0.0, now - since_s_) : 0.0;  // since the last state was secured
  checkpoint_s_ += std::max(0.0, written_s - counted_s);
  wrote_until_s_ = now;
}

void Losses::ended_unnoticed() {
  if (!down_since_s_) return;
  lost_s_ = lost_before_s_;
  recovery_s_ = recovery_before_s_;
  down_since_s_.reset();
}

double Losses::recovery_s(double end_s) const {
  return recovery_s_ + (down_since_s_ ? end_s - *down_since_s_ : std::min(end_s - since_s_, 0.0));
}

void Losses::resumed(double now, double restart_s, bool remembered) {
  if (!remembered) lost_s_ += since_s_ - recovery_before_s_ - lost_before_s_ - stored_work_s_;
  recovery_s_ += now - down_since_s_.value_or(now) + restart_s;
  down_since_s_.reset();
  since_s_ = now + restart_s;
}

}  // namespace simgrad::training
