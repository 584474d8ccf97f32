/// Loss and metric against simulated time, step, epoch, cost, energy, bytes and operations, with confidence bands over
/// the seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

/// The divergence of a case: the first step at which a seed has diverged (outputs/divergence.h).
struct Divergence {
  std::int64_t step = 0;
  std::size_t seeds = 0;   ///< the seeds that diverge, sooner or later
  std::size_t points = 0;  ///< of the series: those before that step
};

/// The curve of a case: the mean over its seeds at the steps that every seed has evaluated. A seed that has ended keeps
/// its last values, so that the last point is the mean of the final values. If a crash made a seed repeat steps, the
/// last evaluation of a step counts. With one seed the curve has every evaluation as recorded.
/// A curve that is cut keeps one evaluation after divergence, the last one.
/// NaN: no number, or not finite for one of the seeds. Empty vector: no run of the case has the number.
struct Series {
  std::size_t strategy = 0;
  std::size_t point = 0;
  std::size_t seeds = 0;
  std::vector<double> step;
  std::vector<double> simulated_s;
  std::vector<double> epochs;
  std::vector<double> cost_usd;  ///< the run's cost in proportion to the elapsed time
  std::vector<double> energy_j;
  std::vector<double> bytes;
  std::vector<double> flops;
  std::vector<double> loss;
  std::vector<double> loss_low;  ///< 95 % confidence interval of the mean; empty with one seed
  std::vector<double> loss_high;
  std::vector<double> metric;
  std::vector<double> metric_low;
  std::vector<double> metric_high;
  std::vector<double> consensus;
  std::optional<Divergence> diverged;
  std::optional<double> loss_floor;  ///< the least expected loss of any model: the mean over the seeds
};

/// Returns a curve of at most `most` points; peaks of loss, metric and consensus distance stay.
Series series(const Case& one, std::size_t most);

/// A column that is a straight line over another column.
struct Line {
  std::string_view of;  ///< "step" or "simulated_s"
  double from = 0.0;
  double per = 0.0;
};

/// Returns the line through the column's ends if all of the column is on it, to 1e-9 of the largest number.
std::optional<Line> line_over(std::string_view name, const std::vector<double>& over,
                              const std::vector<double>& column);

struct Curves : Chart {
  std::vector<Series> series;
};

inline constexpr std::size_t most_points_a_series = 2000;
inline constexpr std::size_t most_points_in_all = 80'000;

/// Returns nothing if no run has a loss.
std::optional<Curves> curves(const ReportModel& model);
/// Returns the chart of the distance of the replicas from their mean; nothing if they are always equal. The page draws
/// its lines from the curves.
std::optional<Chart> consensus(const ReportModel& model);

void write(Writer& writer, const Divergence& divergence);
void write(Writer& writer, const Curves& curves);

}  // namespace simgrad::outputs::report
