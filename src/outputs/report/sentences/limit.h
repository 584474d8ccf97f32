/// The bottleneck of a case: the largest part of its time, with a cause that the numbers support.
#pragma once

#include <array>
#include <string>

#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

enum class Limit {
  unknown,   ///< no worker was recorded, or no time passed
  compute,   ///< computing takes the largest part of the time
  link,      ///< a link is busy for at least half of the time spent communicating and waiting
  latency,   ///< communication, while every link is idle for nine tenths of that time
  storage,   ///< communication with a storage
  messages,  ///< communication, while links are neither busy nor idle
  slowest,   ///< waiting, at least half of it for the worker that computes longest
  late,      ///< waiting, at least half of it for the last member of a collective; or the scenario has stragglers
  turns,     ///< waiting for other jobs, which compute in turns
  waiting,   ///< waiting that the record does not explain
  faults     ///< crashes: recovery, repeated work, checkpoints, hosts that are down
};

/// Returns the cause of the largest part of the workers' time.
Limit limit(const Case& one);
/// Returns the cause of the largest part that is not computing.
Limit overhead(const Case& one);

/// Returns a clause that can follow a colon: "communicating takes 63 % of the time, and the server's link "nic-8" is
/// busy 97 % of the time". Empty if unknown.
std::string limit_text(const Case& one);

/// Returns such a clause about the time that is not computing, the cause of a lost efficiency. Empty if nearly all of
/// the time is computing.
std::string overhead_text(const Case& one);

/// Returns "the server's link "nic-8" of ring is busy 97 % of the time". of: "ring", or empty.
std::string link_text(const Case& one, const std::string& of);

/// Returns "recovering from 32 crashes takes 65 % of the time and writing checkpoints 5 %".
std::string faults_text(const Case& one);

/// Returns the shares of the workers' time: compute, communicate, wait, down. All are 0 if no time was recorded.
std::array<double, 4> shares(const Case& one);

}  // namespace simgrad::outputs::report
