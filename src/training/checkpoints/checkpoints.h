/// When states are written to stable storage, and what that and failures take from a run.
///
/// Source: J. W. Young, "A first order approximation to the optimum checkpoint interval", Communications of the ACM 17,
/// 1974; J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future Generation
/// Computer Systems 22, 2006.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

namespace simgrad::training {

/// Seconds of work between two checkpoints.  mtbf_s: of the whole job.  cost_s: of writing one.
double young_interval_s(double mtbf_s, double cost_s);
double daly_interval_s(double mtbf_s, double cost_s);
/// The share of the time that is useful work, exactly, for exponential failures.  restart_s: from a failure until the
/// work goes on from the last checkpoint.
double checkpoint_efficiency(double interval_s, double mtbf_s, double cost_s, double restart_s);

/// Which steps' states are written. The first rank to arrive at a step decides for all.
class CheckpointClock {
 public:
  /// every_steps: 0: not by steps.  every_s: nothing: not by time.
  CheckpointClock(std::int64_t every_steps, std::optional<double> every_s)
      : every_steps_(every_steps), every_s_(every_s) {}

  bool due(std::int64_t step, double now, double cost_s);
  /// All start again from this step.
  void restart(std::int64_t step, double now);

 private:
  std::int64_t every_steps_;
  std::optional<double> every_s_;
  double last_s_ = 0.0;
  std::int64_t decided_ = 0;
  std::set<std::int64_t> chosen_;
};

/// Where the time of a run with failures goes: all that is neither lost, nor recovery, nor checkpoints is useful.
class Losses {
 public:
  /// A checkpoint is complete, or without checkpoints a step that will be remembered.
  void secured(double now);
  void wrote(double cost_s) { checkpoint_s_ += cost_s; }
  /// The first crash of a recovery: what was done since the state gone back to was secured is lost.
  void crashed(double now);
  /// A new generation begins, and takes so long until it works.
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
