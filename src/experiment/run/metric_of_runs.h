/// A metric of the runs of one label at one grid point: its mean over the seeds, or the reason why there is none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "outputs/results.h"
#include "outputs/statistics.h"

namespace simgrad::experiment {

using Runs = std::vector<const outputs::Run*>;

/// Returns whether a number compares runs that have learnt: one that diverged is neither fast nor cheap.
bool compares(std::string_view metric);
/// Returns whether a run has the number only if it reached its target.
bool to_target(std::string_view metric);

/// "the target was not reached", "the run has no such number"
std::string why_null(const std::string& metric);
/// "the run diverged at step 12 (seed 1)"
std::string divergence_text(const outputs::Run& run);
/// "the run failed: ... (seed 1)"
std::string failure_text(const outputs::Run& run);

/// The mean of the metric over the seeds, or the reason why there is none.
struct MeanOfSeeds {
  outputs::Interval of_seeds = {};
  std::string fault = {};
  std::map<std::uint64_t, double> values = {};  ///< by seed
};
MeanOfSeeds mean_of(const std::string& metric, const Runs& seeds);

}  // namespace simgrad::experiment
