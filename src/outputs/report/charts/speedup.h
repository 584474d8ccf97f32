/// Speed-up and efficiency against workers, with Amdahl's law fitted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/sentences/explanation.h"

namespace simgrad::outputs::report {

/// Amdahl's law with the serial share that fits best: see statistics.h.
struct Amdahl {
  double serial = 0.0;
  std::vector<double> workers;  ///< where it is drawn
  std::vector<double> speedup;
};

/// A strategy with the other parameters fixed; ascending workers.
struct SpeedupSeries {
  std::size_t strategy = 0;
  std::string text;  ///< the other parameters
  std::vector<double> workers;
  std::vector<double> speedup;
  std::vector<double> low;  ///< 95 % confidence over seeds; empty where no size has two
  std::vector<double> high;
  std::vector<double> efficiency;  ///< by throughput, mean over seeds; NaN where no run has one
  std::optional<Amdahl> amdahl;    ///< of two sizes at least, all of them within 10 % of it
  std::vector<const Case*> cases;
};

struct Speedup : Chart {
  std::vector<SpeedupSeries> series;
  Measure measure = Measure::throughput;  ///< time to target where every case has it
};

/// Nothing where no run was compared with a baseline.
std::optional<Speedup> speedup(const ReportModel& model);

void write(Writer& writer, const Speedup& speedup);

}  // namespace simgrad::outputs::report
