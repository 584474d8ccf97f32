/// The sentence at the top of the report.
#pragma once

#include <string>

#include "outputs/report/sentences/ranking.h"

namespace simgrad::outputs::report {

/// Returns one sentence: the winner by the measure and its lead. If the grid asks several questions, the sentence names
/// the winner of each. Jobs on one cluster do not compete: for them it says how much longer each takes than alone.
/// At least one case must have the measure.
std::string headline(const ReportModel& model, Measure measure);

/// Returns "bandwidth and latency": the keys of the grid that are questions.
std::string questions_keys(const ReportModel& model);

/// Returns "2.00 s to the target" or "4.00 M samples/s".
std::string time_text(const Case& one, Measure measure);

/// Returns "4.10 ms ± 0.30" or "250 ns ± 3 per sample": the mean with half of its 95 % interval.
std::string interval_text(const Case& one, Measure measure);

/// Returns ", 5.2x as fast as one worker", or ", 2.0x slower than one worker alone", and whether that would not fit
/// into memory. Empty if not known.
std::string against_one_worker(const Case& one, Measure measure);

/// Returns "7.1x as long as alone". Empty if not known.
std::string interference_text(const Case& one);

}  // namespace simgrad::outputs::report
