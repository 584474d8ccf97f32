/// The time chart: seconds of computing, communicating, waiting and being down, per strategy and per rank, and the
/// parts of each.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

using Parts = std::array<double, 4>;  ///< compute, communicate, wait, down [s]

/// A part of the time. On devices gradients have parts of their own.
struct TimeDetail {
  record::TimePart part = record::TimePart::compute_gradient;
  std::optional<record::GradientPart> kind = {};

  bool operator==(const TimeDetail&) const = default;
};

struct TimeRow {
  std::size_t strategy = 0;
  std::size_t point = 0;
  Parts parts{};               ///< means over the workers and the seeds
  std::vector<double> detail;  ///< the same of each of Time::detail
};

/// The ranks of a case in its first seed.
struct RankTimes {
  std::size_t strategy = 0;
  std::size_t point = 0;
  std::vector<std::string> names;
  std::vector<Parts> parts;
  std::vector<std::vector<double>> detail;  ///< by rank
};

inline constexpr std::size_t most_ranks_in_all = 6000;

/// The sentence compares the case that it explains (`about`) with another one.
struct Time : Chart {
  std::optional<Subject> other = {};  ///< if it is at another grid point
  std::vector<TimeDetail> detail;     ///< those that occur; none if a run is of a release without parts
  std::vector<TimeRow> rows;
  std::vector<RankTimes> ranks;  ///< if there are too many, the first ranks of each case
};

/// Returns nothing if no worker was recorded.
std::optional<Time> time(const ReportModel& model);

void write(Writer& writer, const Time& time);

}  // namespace simgrad::outputs::report
