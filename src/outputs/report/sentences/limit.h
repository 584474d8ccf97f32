/// What binds a case: the largest part of its time, with the reason that its numbers bear out.
#pragma once

#include <array>
#include <string>

#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

enum class Limit {
  unknown,   ///< no worker was recorded, or no time passed
  compute,   ///< more than half of what is not idle
  link,      ///< a link is busy for at least half of the time of communicating and waiting
  latency,   ///< communication, and every link is idle for nine tenths of that time
  messages,  ///< communication, and links are neither busy nor idle
  slowest,   ///< waiting, at least half of which is what one worker computes longer than the mean
  late,      ///< waiting, at least half of which is for the last of a collective's members; or there are stragglers
  turns,     ///< waiting for other jobs, which compute in turns
  waiting,   ///< waiting that the record does not explain
  faults     ///< crashes: recovery, work done again, checkpoints, hosts that are down
};

/// Of the largest part of the workers' time.
Limit limit(const Case& one);
/// Of the largest part of what is not computing.
Limit overhead(const Case& one);

/// A clause without a subject: "communicating takes 63 % of the time, and the server's link "nic-8" is busy 97 % of
/// it".  Empty where unknown.
std::string limit_text(const Case& one);

/// The same of what is not computing: what an efficiency is lost to.  Empty where next to nothing is.
std::string overhead_text(const Case& one);

/// "the server's link "nic-8" of ring is busy 97 % of the time"; `of`: " of ring", or empty.
std::string link_text(const Case& one, const std::string& of);

/// "recovering from 32 crashes takes 65 % of the time and checkpoints 5 %".
std::string faults_text(const Case& one);

/// Compute, communicate, wait, down: shares of the workers' time; all 0 where none was recorded.
std::array<double, 4> shares(const Case& one);

}  // namespace simgrad::outputs::report
