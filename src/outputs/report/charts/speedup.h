/// Speed-up and efficiency against the number of workers, with a fit of Amdahl's law.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/sentences/explanation.h"

namespace simgrad::outputs::report {

/// Amdahl's law with the serial share that fits best (statistics.h).
struct Amdahl {
  double serial = 0.0;
  std::vector<double> workers;  ///< points of the drawn curve
  std::vector<double> speedup;
};

/// One strategy with the other parameters fixed, by ascending number of workers.
struct SpeedupSeries {
  std::size_t strategy = 0;
  std::string text;  ///< the other parameters
  std::vector<double> workers;
  std::vector<double> speedup;
  std::vector<double> low;  ///< 95 % confidence interval over the seeds; empty if no size has two
  std::vector<double> high;
  std::vector<double> efficiency;  ///< speed-up over workers, by the chart's measure
  std::optional<Amdahl> amdahl;    ///< only with two sizes at least, all within 10 % of it
  std::vector<const Case*> cases;
};

struct Speedup : Chart {
  std::vector<SpeedupSeries> series;
  Measure measure = Measure::throughput;  ///< time to target if every case has it
};

/// Returns nothing if no run was compared with a baseline. Cases with a run that failed or diverged are left out.
std::optional<Speedup> speedup(const ReportModel& model);

void write(Writer& writer, const Speedup& speedup);

}  // namespace simgrad::outputs::report
