/// A fleet of servers that fail and are repaired, and the jobs that share it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "capacity/computing.h"
#include "capacity/servers.h"

namespace simgrad::capacity {

struct FleetOptions {
  int hosts = 1;   ///< that jobs may occupy at a time
  int spares = 0;  ///< servers beyond them, which replace failed ones
  double horizon_s = 0.0;
  bool until_done = false;  ///< ends when all jobs have ended, at the horizon at the latest
  double detection_s = 0.0;
  double restart_s = 0.0;
  double checkpoint_s = 0.0;        ///< for which a checkpoint holds up a job that does not say it itself
  double checkpoint_write_s = 0.0;  ///< likewise, from then until it is safe, while the job computes
  bool backfill = false;
  /// Asked now and then; once it says no, the simulation ends, and jobs that have not ended have no end.
  std::function<bool()> goes_on = {};
};

struct Job {
  int hosts = 1;
  double arrival_s = 0.0;
  double work_s = 0.0;                                          ///< computing on all of its servers
  double interval_s = std::numeric_limits<double>::infinity();  ///< work between two checkpoints
  std::int64_t priority = 0;
  std::optional<CheckpointTimes> checkpoint = {};  ///< none: as the fleet has them
};

/// The time of all servers, in seconds of one server. The parts add up to all of it.
struct HostTime {
  double useful_s = 0.0;       ///< computing that was not lost
  double down_s = 0.0;         ///< failed, until the repair
  double recomputed_s = 0.0;   ///< computing since the last checkpoint before a failure, which is done again
  double checkpoints_s = 0.0;  ///< writing checkpoints
  double restart_s = 0.0;      ///< servers of jobs that notice a failure or restart
  double waiting_s = 0.0;      ///< servers of jobs that wait for another server
  double idle_s = 0.0;         ///< up, without a job

  double total_s() const { return useful_s + down_s + recomputed_s + checkpoints_s + restart_s + waiting_s + idle_s; }
  /// Useful time as a share of all: the goodput of the fleet.
  double goodput() const { return useful_s / total_s(); }
  /// The time of servers that jobs hold, as a share of all.
  double utilisation() const { return (total_s() - down_s - idle_s) / total_s(); }
  HostTime& operator+=(const HostTime& other);
};

/// The end of a job.  Times: virtual seconds.
struct JobOutcome {
  std::optional<double> start_s;  ///< none: it was still in the queue at the end
  std::optional<double> end_s;    ///< none: it had not ended
  std::int64_t failures = 0;      ///< of its servers
};

struct FleetOutcome {
  double end_s = 0.0;
  HostTime host_time;
  std::vector<JobOutcome> jobs;  ///< as many as there are jobs, in their order
  std::int64_t failures = 0;     ///< of servers, with jobs or without
};

/// Simulates the fleet from 0 to its horizon.
///
/// A job starts on servers that are up when those before it in the queue have started. When one of its servers fails,
/// all of it stops: it has lost the work since its last checkpoint. After `detection_s` it takes a free server, or
/// waits for one; after `restart_s` more it computes from that checkpoint on. A failure in between begins this anew.
/// Jobs that wait for a server are served before the queue. In the queue jobs of more priority stand before those of
/// less, and those of one priority in the order of arrival.
///
/// jobs: in the order of arrival. Backfilling looks at the first 1,000 of the queue.  Errors: ScenarioError for more
/// than 1,000,000 failures.
FleetOutcome simulate(const FleetOptions& options, const Outages& outages, const std::vector<Job>& jobs);

}  // namespace simgrad::capacity
