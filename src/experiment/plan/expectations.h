/// The claims of a scenario about its own results: [[expect]].
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "scenario/document.h"

namespace simgrad::experiment {

struct Settings;

/// One [[expect]]: a bound on a metric of the matching runs as a mean over the seeds, or the claim that they are better
/// than those of another strategy.
struct Expectation : base::Described {
  std::optional<std::string> strategy;  ///< a label, else a kind; none: every strategy
  std::string metric;                   ///< a numeric field of a run
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::optional<double> equals;
  std::optional<double> tolerance;  ///< allowed distance from `equals`, relative to `equals`
  /// The grid points concerned: keys of the grid, each with its value as TOML writes it; none: all points.
  std::vector<std::pair<std::string, std::string>> where;
  /// The runs by whose value the metric is divided: those of this label, else kind, and at the grid point that differs
  /// in these keys. Without a strategy those of the run's own label.
  std::optional<std::string> relative_to;
  std::vector<std::pair<std::string, std::string>> relative_where;
  /// The strategy, a label, else a kind, that the runs are better than: the mean of the paired differences over the
  /// seeds in common is above 0 at this confidence, one-sided.
  std::optional<std::string> better_than;
  std::optional<double> confidence;

  void describe(base::Describer& d) override;

  bool holds(double value) const;
  /// Whether it is about two groups of runs.
  bool relative() const { return relative_to || better_than || !relative_where.empty(); }
  /// The strategy to compare with; none: the run's own.
  const std::optional<std::string>& other() const { return better_than ? better_than : relative_to; }
  /// "at least 3", "between 1 and 2", "6 within 0.1 %", "at most 0.9 x that of ring", "better than ring".
  std::string bound() const;
  /// True if a grid point, as a run has it, matches `where`.
  bool is_about(const nlohmann::ordered_json& parameters) const;
  /// The grid point to compare with, of a run at this one.
  nlohmann::ordered_json compared_with(nlohmann::ordered_json parameters) const;

 private:
  void refuse_metric(base::Describer& d) const;
  void refuse_bounds(base::Describer& d) const;
  void refuse_beside_better_than(base::Describer& d) const;
};

/// Adds a fault for every expectation of the document that could match no run: the scenario has no such strategy, or
/// its grid no such key or value.  written: the axes of the file.  taken: the axes that the command line leaves.
void check_expectations(const std::vector<const Settings*>& points, const std::vector<scenario::Axis>& written,
                        const std::vector<scenario::Axis>& taken, const scenario::Document& document,
                        scenario::Faults& faults);

}  // namespace simgrad::experiment
