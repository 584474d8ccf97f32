/// The fit of a scenario's assumed numbers (an efficiency, a bandwidth, a latency) to measured times of a step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "experiment/calibration/least_squares_fit.h"
#include "experiment/calibration/measured_runs.h"
#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// An option whose value is fitted.
struct FittedOption {
  std::string key;                 ///< "cluster.bandwidth"
  std::optional<base::Unit> unit;  ///< none: a plain number
  double start = 0.0;              ///< the scenario's value
};

/// The option as the plan's scenario has it.  Errors: base::ScenarioError if the scenario has no such option, or if its
/// value is no positive number or quantity.
FittedOption fitted_option(const Plan& plan, const std::string& key);

/// A value of the option to four digits, as TOML.
std::string toml_value(const FittedOption& option, double value);

/// Fits the options of the plan's only run to the rows, each of which lays its own options over the scenario. A time of
/// a step is simulated_s / steps of a simulation without numbers.
/// jobs: simulations at a time, 0: all cores.  Errors: base::ScenarioError for a row that the scenario refuses, with
/// its line and the reason, and as fit_least_squares, which has the meaning of folds and tolerance.
Fit fit_runs(const Plan& plan, const std::vector<FittedOption>& options, const MeasuredRuns& measured,
             const std::string& path, std::size_t folds, int jobs, double tolerance);

/// Spearman's correlation of ranks, with mean ranks of equal values. Needs two different values on both sides.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace simgrad::experiment
