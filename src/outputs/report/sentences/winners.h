/// Who wins by time, by cost and by energy.
#pragma once

#include <string>
#include <vector>

#include "outputs/report/sentences/ranking.h"

namespace simgrad::outputs::report {

/// The winner of one of the three.
struct Winner {
  std::string by;  ///< "time", "cost", "energy"
  std::string label;
  std::string point;
  std::string text;
};

/// A price that is nothing for all is left out.  Where the grid asks several questions, a winner of each by time, of
/// the first few; of jobs the time of each.
std::vector<Winner> winners(const ReportModel& model, Measure measure);

}  // namespace simgrad::outputs::report
