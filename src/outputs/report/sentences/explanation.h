/// The reason why one case is ahead of another, found in the record.
#pragma once

#include <optional>
#include <string>

#include "outputs/leaders.h"
#include "outputs/report/sentences/limit.h"

namespace simgrad::outputs::report {

enum class Measure { time_to_target, throughput };

/// Returns the number of a measure.
inline Compared number_of(Measure measure) {
  return measure == Measure::time_to_target ? by_time_to_target : by_time_per_sample;
}

/// Returns seconds to the target, or seconds per sample: less is better. Empty if the case has no such number.
std::optional<double> measured(const Case& one, Measure measure);

/// Returns "2.1x faster than B", "5 % faster than B" or "as fast as B". A must be ahead or equal. Both cases must have
/// the measure, here and below.
std::string lead(const ReportModel& model, const Case& a, const Case& b, Measure measure);

/// Returns the difference in the numbers of A and B that is the larger part of A's lead: the number of samples needed
/// (with staleness or disagreement of replicas, where B has more of it), or the part of the time per sample in which B
/// loses most. Facts about B (a busy link, a slow worker, crashes) are added only where B has more of them than A.
/// Empty if the two are equal or the record does not explain the difference.
std::string reason(const ReportModel& model, const Case& a, const Case& b, Measure measure);

/// Returns lead and reason in one clause: "2.1x faster than B because ...".
std::string ahead(const ReportModel& model, const Case& a, const Case& b, Measure measure);

}  // namespace simgrad::outputs::report
