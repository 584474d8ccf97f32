/// The computing of a job between two failures.
#pragma once

#include <limits>

namespace simgrad::capacity {

/// Work from a saved state on: `interval_s` of it, a checkpoint, and so on. There is no checkpoint at the end.
struct Computing {
  double work_s = 0.0;                                          ///< that is not saved yet
  double interval_s = std::numeric_limits<double>::infinity();  ///< work between two checkpoints
  double checkpoint_s = 0.0;                                    ///< of one checkpoint

  /// Whole checkpoints until the end.
  double checkpoints() const;
  /// work_s + checkpoints() x checkpoint_s.
  double duration_s() const { return work_s + checkpoints() * checkpoint_s; }

  struct Progress {
    double saved_s = 0.0;        ///< work in checkpoints that are complete
    double unsaved_s = 0.0;      ///< work beyond the last of them
    double checkpoints_s = 0.0;  ///< time of writing, a checkpoint that is under way included
  };
  /// elapsed_s: from 0 to duration_s().
  Progress after(double elapsed_s) const;
};

}  // namespace simgrad::capacity
