/// The winners by time, by cost and by energy.
#pragma once

#include <string>
#include <vector>

#include "outputs/report/sentences/ranking.h"

namespace simgrad::outputs::report {

/// The winner by one of the three.
struct Winner {
  std::string by;  ///< "time", "cost", "energy"
  std::string label;
  std::string point;
  std::string text;
};

/// Returns the winners by each. A price that is 0 for all cases is left out. If the grid asks several questions, there
/// is a winner by time for each of the first few. For jobs, which do not compete, there is the time of each.
std::vector<Winner> winners(const ReportModel& model, Measure measure);

}  // namespace simgrad::outputs::report
