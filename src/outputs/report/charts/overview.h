/// All grid points of a large experiment in few bytes: the numbers of each case, the winners at each grid point, and a
/// short curve of each case. The page shows a slice of it: two axes of the reader's choice, and a value of every other
/// key.
#pragma once

#include <cstddef>
#include <optional>

#include "outputs/report/data/report_model.h"
#include "outputs/report/data/writer.h"
#include "outputs/report/sentences/point_winners.h"

namespace simgrad::outputs::report {

/// The points of all short curves together, and the least and the most of one.
inline constexpr std::size_t most_overview_points = 100'000;
inline constexpr std::size_t least_points_a_curve = 8;
inline constexpr std::size_t most_points_a_curve = 40;

/// Writes the object. Numbers have six digits: summary.csv has all.
void write_overview(Writer& writer, const ReportModel& model, std::optional<Measure> measure, const CloserLook& closer);

}  // namespace simgrad::outputs::report
