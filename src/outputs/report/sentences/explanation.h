/// Why one case is ahead of another, from the record.
#pragma once

#include <optional>
#include <string>

#include "outputs/report/sentences/limit.h"

namespace simgrad::outputs::report {

enum class Measure { time_to_target, throughput };

/// Seconds to the target, or seconds a sample: less is better.
std::optional<double> measured(const Case& one, Measure measure);

/// "2.1x faster than B", "as fast as B"; A must be ahead or equal.  Both must have the measure, here and below.
std::string lead(const ReportModel& model, const Case& a, const Case& b, Measure measure);

/// Why A is ahead of B: the factor that makes most of the difference, samples that are needed (with staleness,
/// disagreement), or the part of the time a sample in which B loses most (with the link that is busy, the slowest
/// worker).  Empty where they are equal or the record does not tell.
std::string reason(const ReportModel& model, const Case& a, const Case& b, Measure measure);

/// Both together: "2.1x faster than B because ...".
std::string ahead(const ReportModel& model, const Case& a, const Case& b, Measure measure);

}  // namespace simgrad::outputs::report
