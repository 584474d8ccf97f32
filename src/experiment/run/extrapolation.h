/// The length of a run in real time, from two looks at it while it goes on.
#pragma once

#include <map>
#include <string>

#include "training/session/pulse.h"

namespace simgrad::experiment {

/// A run that was tried for a while.
struct TimedTrial {
  double real_s = 0.0;       ///< of the whole run, on processors that do nothing else
  double numbers_s = 0.0;    ///< of these for gradients and evaluations
  double evaluations = 0.0;  ///< of the whole run
  double taken_s = 0.0;      ///< by the trial
  bool ended = false;        ///< the trial was the whole run
  bool silent = false;       ///< it made no step: the run takes longer
};

/// A run as far as it has come.
struct Moment {
  training::Pulse pulse;
  double elapsed_s = 0.0;  ///< real time since the run's start

  /// Returns the real time between two moments, had no other process taken the processors: threads share the processor
  /// time, and waiting for a processor is no part of it.
  double since(const Moment& earlier) const;
};

/// Returns the times of a run that has ended.  threads: for its numbers.
TimedTrial complete(const Moment& last, int threads);

/// Extrapolates the pace between two moments to the whole run; what came before them, such as the start of a process,
/// counts once.  last: with a larger share than the first.
TimedTrial whole(const Moment& first, const Moment& last, int threads);

/// trials: at least one.
TimedTrial mean_of(const std::map<std::string, TimedTrial>& trials);

}  // namespace simgrad::experiment
