/// Loss and metric against simulated time, step, epoch and cost, with confidence bands over the seeds.
#pragma once

#include <optional>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

/// The curve of a case, a mean over its seeds at steps that every seed has evaluated; a seed that has ended stays where
/// it ended, so that the last point is the mean of the ends.  Where a crash took a seed back, a step counts when it was
/// come to for the last time.  With one seed, every evaluation as it was.
/// NaN: not there, or not finite for one of the seeds.  Empty vectors: no run of the case has the number.
struct Series {
  std::size_t strategy = 0;
  std::size_t point = 0;
  std::size_t seeds = 0;
  std::vector<double> step;
  std::vector<double> simulated_s;
  std::vector<double> epochs;
  std::vector<double> cost_usd;  ///< the run's cost in proportion to the time that has passed
  std::vector<double> loss;
  std::vector<double> loss_low;  ///< 95 % confidence of the mean; empty with one seed
  std::vector<double> loss_high;
  std::vector<double> metric;
  std::vector<double> metric_low;
  std::vector<double> metric_high;
  std::vector<double> consensus;
};

/// At most `most` points: peaks of loss, metric and consensus stay.
Series series(const Case& one, std::size_t most);

struct Curves : Chart {
  std::vector<Series> series;
};

inline constexpr std::size_t most_points_a_series = 2000;
inline constexpr std::size_t most_points_in_all = 80'000;

/// Nothing where no run has a loss.
std::optional<Curves> curves(const ReportModel& model);
/// How far the replicas are from their mean, drawn from the curves; nothing where they never disagree.
std::optional<Chart> consensus(const ReportModel& model);

void write(Writer& writer, const Curves& curves);

}  // namespace simgrad::outputs::report
