/// The winners at each grid point of a large experiment: how many each strategy wins, and the points that are shown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "outputs/report/sentences/ranking.h"

namespace simgrad::outputs::report {

/// The cases of a grid point that have the measure, and those of them at the top.
struct PointWinners {
  std::vector<const Case*> ranked;
  Leaders top;
};

/// Returns the winners in the order of the model's points; a point without a case that has the measure has none.
std::vector<PointWinners> winners_by_point(const ReportModel& model, Measure measure);

/// Returns the remark on one seed if it decides a grid point.
std::string chance_remark(const ReportModel& model, const std::vector<PointWinners>& points, Measure measure);

/// A few grid points of many, whose charts are like those of a small experiment.
struct CloserLook {
  std::vector<std::size_t> points;  ///< of the model
  std::string sentence;             ///< which they are, and why not all
};

/// Returns the grid points where the first strategy takes the least, the median and the most time; where nobody wins
/// anywhere, the first, the middle and the last of the grid. The model has three points at least.
/// measure: nothing for jobs, which do not compete; here and below.
CloserLook closer_look(const ReportModel& model, std::optional<Measure> measure);

/// Returns how many grid points each strategy wins: the headline of a large experiment.
std::string tally(const ReportModel& model, Measure measure);

}  // namespace simgrad::outputs::report
