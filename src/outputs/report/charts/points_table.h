/// The table of all points at the top of the page: a row a (strategy, grid point), with means and margins over seeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

/// A mean with half of its 95 % interval; the second is absent below two seeds.
struct WithMargin {
  std::optional<double> mean;
  std::optional<double> margin;
};

struct PointsRow {
  std::size_t strategy = 0;
  std::size_t point = 0;
  std::vector<std::string> values;  ///< of the grid's keys
  WithMargin time_s;                ///< to the target, or simulated
  WithMargin cost_usd;              ///< likewise
  WithMargin energy_j;
  std::optional<double> speedup;
  std::optional<double> speedup_margin;  ///< half of its 95 % interval (seed_means.h)
  std::optional<double> efficiency;      ///< the speed-up that is shown over workers
  std::int64_t seeds = 0;
  std::int64_t reached = 0;
  std::string status;  ///< "reached", "not reached", "100 steps done", "1 of 3 diverged", "failed"
  std::optional<double> final_loss;
  std::string binds;  ///< the bottleneck; empty where it is not known
};

/// The table of the chart has each margin in a column of its own.
struct PointsTable : Chart {
  std::vector<std::string> keys;  ///< of the grid, as they are shown
  bool to_target = false;         ///< whether times, prices and speed-ups are to the target
  std::vector<PointsRow> rows;
};

/// Returns nothing without runs.
std::optional<PointsTable> points_table(const ReportModel& model);

void write(Writer& writer, const WithMargin& number);
void write(Writer& writer, const PointsTable& table);

}  // namespace simgrad::outputs::report
