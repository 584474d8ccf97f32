/// Reasons, from the record: what binds a case, and why one is ahead of another.
#pragma once

#include <optional>
#include <string>

#include "outputs/report/view.h"

namespace simgrad::outputs::report {

enum class Limit {
  unknown,   ///< no worker was recorded, or no time passed
  compute,   ///< more than half of what is not idle
  link,      ///< communication, and a link is busy at least half of the time
  messages,  ///< communication, and every link is idle most of the time: latency and rendezvous
  slowest,   ///< waiting, and one worker computes longer than the others
  waiting,   ///< waiting for messages or ranks that the record does not tell apart
  down       ///< crashes and recovery
};

/// The largest part of the workers' time, with its reason.
Limit limit(const Case& one);

/// A clause without a subject: "communicating takes 63 % of the time, and the link "up-8" is busy 97 % of it".
/// Empty where unknown.
std::string limit_text(const Case& one);

/// The same of what is not computing: what an efficiency is lost to.  Empty where next to nothing is.
std::string overhead_text(const Case& one);

enum class Measure { time_to_target, throughput };

/// Seconds to the target, or seconds a sample: less is better.
std::optional<double> measured(const Case& one, Measure measure);

/// "2.1x faster than B", "as fast as B"; A must be ahead or equal.  Both must have the measure, here and below.
std::string lead(const View& view, const Case& a, const Case& b, Measure measure);

/// Why A is ahead of B: the factor that makes most of the difference, samples that are needed (with staleness,
/// disagreement), or the part of the time a sample in which B loses most (with the link that is busy, the slowest
/// worker).  Empty where they are equal or the record does not tell.
std::string reason(const View& view, const Case& a, const Case& b, Measure measure);

/// Both together: "2.1x faster than B because ...".
std::string ahead(const View& view, const Case& a, const Case& b, Measure measure);

}  // namespace simgrad::outputs::report
