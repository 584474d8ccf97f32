/// The mean time of a job to its end, in closed form, for servers that fail after exponential times.
///
/// Sources: J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future
/// Generation Computer Systems 22, 2006, for the time of a segment; N. H. Vaidya, "Impact of checkpoint latency on
/// overhead ratio of a checkpointing scheme", IEEE Transactions on Computers 46, 1997, for checkpoints that are written
/// while the work goes on.
#pragma once

#include <cstdint>
#include <limits>

#include "capacity/computing.h"
#include "cluster/failures/process.h"

namespace simgrad::capacity {

/// The failures of a job's servers.  Virtual seconds.
struct JobFailures {
  double mtbf_s = std::numeric_limits<double>::infinity();  ///< of the whole job: a server's over their number
  double detection_s = 0.0;                                 ///< until the job asks for another server
  double restart_s = 0.0;                                   ///< from having all servers until it computes
  double enough = 1.0;    ///< the share of time in which as many servers are up as the job needs
  double no_spare = 0.0;  ///< the share of failures after which the job waits for a repair
  double repair_s = 0.0;  ///< mean
};

/// The mean time of the work, its checkpoints, lost work, restarts, and waiting for repairs. A segment of length L
/// between two checkpoints takes M e^(R/M) (e^(L/M) - 1) of the time in which there are servers enough: M the MTBF, R
/// the detection, the restart, and the writing of a checkpoint in the background. Where a job waits for a repair, the
/// detection passes meanwhile. Infinite where numbers overflow.
double expected_time_s(const Computing& work, const JobFailures& failures);

/// The probability that at least `hosts` of hosts + spares servers are up, if each is down for that share of its time:
/// a binomial sum.
double enough_up(int hosts, int spares, double down_share);

/// The probability that a server that fails while at least `hosts` of hosts + spares are up leaves fewer than these.
double no_spare_left(int hosts, int spares, double down_share);

/// The life of one server: mean times between the end of a repair and the next failure, and of a repair.
struct ServerLife {
  double mtbf_s = std::numeric_limits<double>::infinity();
  double repair_s = 0.0;
  double down_share() const { return repair_s / (mtbf_s + repair_s); }
};

/// From the process's own numbers; where it has none, as a trace does, from the outages of 400 servers.  seed: of
/// these.
ServerLife server_life(const cluster::FailureProcess& failures, const cluster::Repair& repair, std::uint64_t seed);

/// The failures of a job on so many servers.
JobFailures failures_of_job(const ServerLife& life, int hosts, int spares, double detection_s, double restart_s);

}  // namespace simgrad::capacity
