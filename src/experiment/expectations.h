/// What a scenario claims of its own results: [[expect]].
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "scenario/document.h"

namespace simgrad::experiment {

struct Settings;

/// One [[expect]]: a bound on a number of every run that it matches, a mean over the seeds.
struct Expectation : base::Described {
  std::optional<std::string> strategy;  ///< a label, else a kind; none: every strategy
  std::string metric;                   ///< a numeric field of a run
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::optional<double> equals;
  std::optional<double> tolerance;  ///< of `equals`, relative to it
  /// The grid points that it is about: keys of the grid, each with its value as TOML writes it; none: all points.
  std::vector<std::pair<std::string, std::string>> where;

  void describe(base::Describer& d) override;

  bool holds(double value) const;
  /// "at least 3", "between 1 and 2", "6 within 0.1 %".
  std::string bound() const;
  /// Whether a grid point, as it stands in a run, has all that `where` says.
  bool is_about(const nlohmann::ordered_json& parameters) const;
};

/// Adds a fault for every expectation of the document that could match no run: names of strategies, keys and values
/// that the grid does not have.  written: the axes of the file; taken: those that the command line leaves.
void check_expectations(const std::vector<const Settings*>& points, const std::vector<scenario::Axis>& written,
                        const std::vector<scenario::Axis>& taken, const scenario::Document& document,
                        scenario::Faults& faults);

}  // namespace simgrad::experiment
