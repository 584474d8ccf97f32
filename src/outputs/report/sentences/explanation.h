/// The reason why one case is ahead of another, found in the record.
#pragma once

#include <optional>
#include <string>

#include "outputs/report/sentences/limit.h"

namespace simgrad::outputs::report {

enum class Measure { time_to_target, throughput };

/// Returns seconds to the target, or seconds per sample: less is better. Empty if the case has no such number.
std::optional<double> measured(const Case& one, Measure measure);

/// Returns "2.1x faster than B" or "as fast as B". A must be ahead or equal. Both cases must have the measure, here and
/// below.
std::string lead(const ReportModel& model, const Case& a, const Case& b, Measure measure);

/// Returns why A is ahead of B, by the factor that explains most of the difference: the number of samples needed (with
/// staleness or disagreement of replicas), or the part of the time per sample in which B loses most (with the busy link
/// or the slowest worker). Empty if the two are equal or the record does not explain the difference.
std::string reason(const ReportModel& model, const Case& a, const Case& b, Measure measure);

/// Returns lead and reason in one clause: "2.1x faster than B because ...".
std::string ahead(const ReportModel& model, const Case& a, const Case& b, Measure measure);

}  // namespace simgrad::outputs::report
