/// The time that failures and checkpoints take from a run.
#pragma once

#include <optional>

namespace simgrad::training {

/// Time of a run that is not useful work: lost work, recoveries, writing checkpoints.
class Losses {
 public:
  /// A checkpoint is complete, or a step that ranks remember.
  void secured(double now) { secured(now, now); }
  /// A checkpoint of an earlier moment's state is complete: work done since then is not in it.
  void secured(double now, double since);
  /// A checkpoint is complete beside what ranks remember: a recovery goes back to it if their memory is gone.
  void stored(double now) { stored_work_s_ = now - recovery_s_ - lost_s_; }
  /// Ranks have written a checkpoint for so long; after it was secured or stored. Writing at the same time counts once.
  /// If the state is not secured by it and a rank has crashed, the time is lost, or that of the recovery.
  void wrote(double now, double cost_s);
  /// The first crash of a recovery: work done since the state gone back to was secured is lost.
  void crashed(double now);
  /// A new generation begins, whose ranks work after so many seconds.  remembered: it goes on from what was secured
  /// last, and not from a checkpoint before that.
  void resumed(double now, double restart_s, bool remembered);

  /// The run has ended before anybody has noticed the last crash, which has cost nothing.
  void ended_unnoticed();

  double lost_s() const { return lost_s_; }
  /// The time until the run's end, which may be in the middle of a restart.
  double recovery_s(double end_s) const;
  double checkpoint_s() const { return checkpoint_s_; }

 private:
  double since_s_ = 0.0;
  double lost_s_ = 0.0, lost_before_s_ = 0.0;  ///< before the last crash
  double recovery_s_ = 0.0, recovery_before_s_ = 0.0;
  double checkpoint_s_ = 0.0, wrote_until_s_ = 0.0;
  double stored_work_s_ = 0.0;  ///< of the run until `stored`, without what was lost or spent on recoveries
  std::optional<double> down_since_s_;
};

}  // namespace simgrad::training
