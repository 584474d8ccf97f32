/// Gang scheduling: jobs that share hosts compute in turns, each on all of its hosts at a time.
///
/// Source: P. Barham et al., "Pathways: Asynchronous Distributed Dataflow for ML", MLSys 2022 (gang-scheduled
/// programs).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/by_rank.h"

namespace simgrad::cluster {

/// The ranks of a job arrive here at the end of every quantum of steps; when all have arrived, the next job that waits
/// goes on. Waiting for a turn counts as waiting.
class GangSchedule {
 public:
  GangSchedule(int jobs, std::int64_t quantum_steps);
  ~GangSchedule();

  /// In the actor of a rank: blocks until the job may go on.  step: steps made so far.  ranks: the job's, all of which
  /// call.
  void come(int job, std::int64_t step, int ranks);
  /// The job is over.
  void leave(int job);

 private:
  struct Gate;
  void pass_on();

  std::int64_t quantum_steps_;
  int holder_ = -1;
  base::ByRank<std::unique_ptr<Gate>> gates_;  ///< by job
};

}  // namespace simgrad::cluster
