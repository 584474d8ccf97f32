/// The order in which jobs that wait for servers start.
///
/// Source: first come first served, and EASY backfilling: D. A. Lifka, "The ANL/IBM SP scheduling system", Job
/// Scheduling Strategies for Parallel Processing, 1995.
#pragma once

#include <cstddef>
#include <vector>

namespace simgrad::capacity {

/// A job of the queue.
struct Queued {
  int hosts = 1;
  double duration_s = 0.0;  ///< without failures
};

/// A job that runs.
struct Busy {
  int hosts = 1;
  double end_s = 0.0;  ///< without further failures
};

/// Which jobs of the queue start now, by their places in it, ascending.
///
/// queue: in the order in which jobs may start.  room: servers that can be given to them.  now_s: virtual seconds.
/// backfill: a job behind the first that has no room may start if it ends before that one has room, or if it leaves
/// enough servers then. It may not where the end of running jobs alone never makes room: servers are down then.
std::vector<std::size_t> starts(const std::vector<Queued>& queue, std::vector<Busy> busy, int room, double now_s,
                                bool backfill);

}  // namespace simgrad::capacity
