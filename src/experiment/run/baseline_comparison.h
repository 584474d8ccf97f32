/// Runs compared with a stored baseline: what differs, and by how many tolerances.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/scenario_differences.h"
#include "experiment/run/stored_baseline.h"

namespace simgrad::experiment {

/// A value that is not the stored one.
struct StoredDifference {
  const StoredRun* stored = nullptr;
  std::string metric;   ///< or "status"
  std::string before;   ///< the stored value; "none" for null
  std::string after;    ///< the value found
  double change = 0.0;  ///< relative, with its sign; infinite where the stored value is 0, null or a text
  double tolerance = 0.0;

  bool beyond() const;
  /// The change as a multiple of the tolerance; infinite where no change is tolerated.
  double excess() const;
};

struct BaselineComparison {
  std::vector<StoredDifference> differences;  ///< the worst first
  std::size_t runs = 0;                       ///< that are in both
  std::size_t numbers = 0;                    ///< that were compared, statuses included
  std::vector<std::string> added;             ///< runs that the stored baseline lacks
  std::vector<const StoredRun*> gone;         ///< stored runs that are not there any more
  std::size_t redefined = 0;                  ///< runs in both whose ids differ
  std::optional<std::int64_t> stored_number;  ///< the results_number of the stored runs, if it is not this release's

  bool same_bits() const { return differences.empty() && gone.empty(); }
  bool within_tolerance() const;
};

/// Whether a baseline is compared with or about to be rewritten. Where it is rewritten, runs of another definition or
/// of another results_number may differ: only equal runs are compared.
enum class Compare { all, equal_ids };

/// Compares the runs of the results with those that are stored for the scenario of that name. The differences point
/// into the baseline.
BaselineComparison compare(const StoredBaseline& baseline, const outputs::Results& results, Compare which);

/// The keys that decide on the plan's runs, of those that its scenario writes, with their values: all that a stored
/// baseline needs to name a changed one.
Leaves written_leaves(const Plan& plan);

/// Adds a fault if the stored runs are of another scenario: none is stored under its name, no run is the same, or runs
/// of the same release and place have other ids.
void require_same_scenario(const StoredBaseline& baseline, const Plan& plan, const std::string& scenario_file,
                           scenario::Faults& faults);

}  // namespace simgrad::experiment
