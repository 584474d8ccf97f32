/// Measured times of a step, each under options of its own: what `calibrate --runs` fits a scenario to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simgrad::experiment {

/// One row of the file.
struct MeasuredRun {
  std::int64_t line = 0;
  double step_s = 0.0;
  std::string family;             ///< rows whose errors are reported together; empty without that column
  std::vector<std::string> sets;  ///< the row's options: key=value
};

struct MeasuredRuns {
  std::vector<MeasuredRun> rows;
  std::vector<std::string> unused;  ///< columns that are neither options nor known
};

/// A CSV file with a header, behind lines that begin with #: `step_s` (seconds a step), `family` if wanted, and columns
/// of options. A column is an option if its name has a dot (`cluster.workers`), or if `columns` gives its key
/// (`hidden=model.hidden`). Rows without a time are left out; a cell that is empty leaves the scenario's value.
/// Errors: base::ScenarioError `file:line:column: ...` for a time that is no positive number, a column that is named
/// and not there, or a file without rows; base::EnvironmentError.
MeasuredRuns read_measured_runs(const std::string& path, const std::vector<std::string>& columns);

}  // namespace simgrad::experiment
