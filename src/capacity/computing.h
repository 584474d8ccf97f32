/// The computing of a job between two failures.
#pragma once

#include <algorithm>
#include <limits>

namespace simgrad::capacity {

/// One checkpoint of a job.  Virtual seconds.
struct CheckpointTimes {
  double held_up_s = 0.0;  ///< for which the job stands still
  double write_s = 0.0;    ///< from then until it is safe, while the job computes
};

/// Work from a saved state on: `interval_s` of it, a checkpoint, and so on. There is no checkpoint at the end.
///
/// A checkpoint may be written while the work goes on: it holds the work up for `checkpoint_s`, and is safe `write_s`
/// later. The next one waits until then.
struct Computing {
  double work_s = 0.0;                                          ///< that is not saved yet
  double interval_s = std::numeric_limits<double>::infinity();  ///< work between two checkpoints
  double checkpoint_s = 0.0;                                    ///< for which a checkpoint holds the work up
  double write_s = 0.0;                                         ///< from then until it is safe

  /// Whole checkpoints until the end.
  double checkpoints() const;
  /// Time for which each checkpoint but the first waits for the one before.
  double stall_s() const { return std::max(write_s - interval_s, 0.0); }
  /// The work, its checkpoints and their waiting.
  double duration_s() const;

  struct Progress {
    double saved_s = 0.0;        ///< work in checkpoints that are safe
    double unsaved_s = 0.0;      ///< work beyond the last of them
    double checkpoints_s = 0.0;  ///< time in which checkpoints hold the work up, one that is under way included
  };
  /// elapsed_s: from 0 to duration_s().
  Progress after(double elapsed_s) const;

 private:
  double end_s(double number) const;
  double ended(double elapsed_s) const;
};

}  // namespace simgrad::capacity
