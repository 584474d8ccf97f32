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
  bool front = false;         ///< of cost: no other row is as fast and as cheap and better in one of the two
  bool front_energy = false;  ///< of energy, likewise
};

/// The sentence is of money where there are prices, else of energy.
struct Pareto : Chart {
  std::vector<ParetoRow> rows;
  Measure time_is = Measure::throughput;  ///< time to target where a case has it: the others are left out
};

/// Nothing where neither money nor energy is priced.
std::optional<Pareto> pareto(const ReportModel& model);

/// Of (time, price) pairs, which are on the front.
std::vector<bool> front(const std::vector<std::pair<double, double>>& pairs);

void write(Writer& writer, const Pareto& pareto);

}  // namespace simgrad::outputs::report
