/// `calibrate SCENARIO --runs FILE.csv`: a scenario's assumed numbers, fitted to measured times of a step.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::cli {

struct CalibrateRuns {
  std::string file;
  std::vector<std::string> fit;      ///< the keys of options
  std::vector<std::string> columns;  ///< NAME=KEY
  int folds = 5;
  int jobs = 0;
  double tolerance = std::numeric_limits<double>::infinity();  ///< the error beyond which a row decides less
};

/// Prints each row with its error, the errors by family, and TOML to paste.  Errors: base::ScenarioError.
void calibrate_runs(const experiment::Plan& plan, const CalibrateRuns& options);

}  // namespace simgrad::cli
