/// The summary over the seeds: a row a (grid point, label), with means and 95 % intervals, for results.json ("summary")
/// and summary.csv.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "outputs/comparison.h"

namespace simgrad::outputs {

/// A number that is summarised over the seeds.
struct SummarisedNumber {
  std::string_view name;                                ///< as in results.json
  RunNumber of;                                         ///< of which there is a mean, or
  Interval (*over_seeds)(const Group& runs) = nullptr;  ///< a number of all seeds together
};

/// Returns the summarised numbers, in the order of the files.
const std::vector<SummarisedNumber>& summarised_numbers();

/// Returns the rows as JSON objects: `parameters`, `label`, `strategy`, `workers`, `seeds`, `reached`, `diverged`,
/// `failed`, then each number's mean under its name, and its 95 % interval under NAME_low and NAME_high (null below two
/// seeds). The numbers are over the runs that neither failed nor diverged, or over the diverged ones if there are no
/// others. Times and prices to the target are over the runs that reached it. Speed-ups and samples per second are
/// ratios of mean times (seed_means.h). Last come `compared_by` (time_to_target_s where the results have a target, else
/// s_per_sample), `best`, the label with the smallest mean of it at the grid point, and `behind` with its interval: the
/// mean of the paired differences from the best, seed by seed (leaders.h). These are null where a row has no such
/// number, and `behind` for the best itself.
std::vector<nlohmann::ordered_json> point_summaries(const Results& results);

}  // namespace simgrad::outputs
