/// The runs whose timelines are kept: few of a sweep, since a timeline is several times as large as a record.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// The most cases whose timelines are kept without --timelines: as many as a report shows.
inline constexpr std::size_t most_timelines = 64;

/// Which timelines are kept: those of the first seed of so many cases (a strategy at a grid point), or of all runs.
struct KeptTimelines {
  std::optional<std::size_t> cases = most_timelines;  ///< nothing: all runs, with all seeds
};

/// "all", a number of cases, or an empty text for the default.  Errors: ScenarioError.
KeptTimelines parse_timelines(const std::string& text);

/// Marks the runs whose timelines are kept. Where the cases are too many, whole grid points are taken, by the hash that
/// is the id of their first run: so the cases of a larger number include those of a smaller one, and of the runs of a
/// smaller grid none is chosen in a larger one that was not chosen before.
/// runs: point by point.
void mark_kept_timelines(std::vector<RunPlan>& runs, const KeptTimelines& kept);

}  // namespace simgrad::experiment
