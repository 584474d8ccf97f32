/// The time that failures and checkpoints take from a run.
#pragma once

#include <optional>

namespace simgrad::training {

/// Time of a run that is not useful work: lost work, recoveries, writing checkpoints.
class Losses {
 public:
  /// A checkpoint is complete, or without checkpoints a step that ranks will remember.
  void secured(double now);
  void wrote(double cost_s) { checkpoint_s_ += cost_s; }
  /// The first crash of a recovery: work done since the state gone back to was secured is lost.
  void crashed(double now);
  /// A new generation begins, whose ranks work after so many seconds.
  void resumed(double now, double restart_s);

  double lost_s() const { return lost_s_; }
  double recovery_s(double end_s) const { return recovery_s_ + (down_since_s_ ? end_s - *down_since_s_ : 0.0); }
  double checkpoint_s() const { return checkpoint_s_; }

 private:
  double since_s_ = 0.0;
  double lost_s_ = 0.0, lost_before_s_ = 0.0;  ///< before the last crash
  double recovery_s_ = 0.0, recovery_before_s_ = 0.0;
  double checkpoint_s_ = 0.0;
  std::optional<double> down_since_s_;
};

}  // namespace simgrad::training
