/// Cost against time, with the Pareto front.
#pragma once

#include <optional>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/sentences/explanation.h"

namespace simgrad::outputs::report {

struct ParetoRow {
  const Case* one = nullptr;
  double time_s = 0.0;
  std::optional<double> cost_usd;
  std::optional<double> energy_j;
  bool front = false;         ///< no other row is at least as good in time and cost and better in one
  bool front_energy = false;  ///< likewise for time and energy
};

/// The sentence is about money if there are prices, else about energy.
struct Pareto : Chart {
  std::vector<ParetoRow> rows;
  Measure time_is = Measure::throughput;  ///< if a case has a time to target, cases without one are left out
};

/// Returns nothing if neither money nor energy is priced.
std::optional<Pareto> pareto(const ReportModel& model);

/// Returns for each (time, price) pair whether it is on the front.
std::vector<bool> front(const std::vector<std::pair<double, double>>& pairs);

void write(Writer& writer, const Pareto& pareto);

}  // namespace simgrad::outputs::report
