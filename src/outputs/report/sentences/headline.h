/// The sentence at the top of the report.
#pragma once

#include <string>

#include "outputs/report/sentences/ranking.h"

namespace simgrad::outputs::report {

/// Who is first by the measure, and by how much; where the grid asks several questions, who is first in each; of jobs,
/// which are no alternatives, how much longer each takes beside the others.  There has to be a case with the measure.
std::string headline(const ReportModel& model, Measure measure);

/// "2.00 s to the target", "4.00 M samples/s".
std::string time_text(const Case& one, Measure measure);

/// ", 5.2x as fast as one worker", and when that is a loss, that it is; empty where it is not known.
std::string against_one_worker(const Case& one, Measure measure);

/// "7.1x as long as by itself"; empty where that is not known.
std::string interference_text(const Case& one);

}  // namespace simgrad::outputs::report
