/// Winners with statistics: whether one row of the comparison is ahead of another, or whether chance may decide.
///
/// Strategies of one seed see the same data, batches and initial values, so they are compared seed by seed: the mean of
/// the paired differences has a 95 % interval by Student's t, and where the interval contains 0 neither is the winner.
/// Differences are of the numbers themselves and not of their logarithms, so that their mean is the difference of the
/// means that the table shows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "outputs/comparison.h"
#include "outputs/statistics.h"

namespace simgrad::outputs {

/// A number by which rows are compared: less is better.
struct Compared {
  std::optional<double> SeedNumbers::*number;
  bool to_target;  ///< a row needs every seed to have reached the target; else no seed may have failed or diverged
};
inline constexpr Compared by_time_to_target{&SeedNumbers::time_to_target_s, true};
inline constexpr Compared by_time_per_sample{&SeedNumbers::s_per_sample, false};
inline constexpr Compared by_simulated_time{&SeedNumbers::simulated_s, false};
inline constexpr Compared by_cost{&SeedNumbers::cost_usd, false};
inline constexpr Compared by_energy{&SeedNumbers::energy_j, false};
inline constexpr Compared by_cost_to_target{&SeedNumbers::cost_to_target_usd, true};
inline constexpr Compared by_cost_per_sample{&SeedNumbers::usd_per_sample, false};
inline constexpr Compared by_energy_to_target{&SeedNumbers::energy_j, true};
inline constexpr Compared by_energy_per_sample{&SeedNumbers::j_per_sample, false};

/// Means that differ by a smaller factor are called equal.
inline constexpr double equal_within = 1.005;

/// Returns the mean over the seeds; nothing for a row that may not win by this number, or has it for no seed.
std::optional<double> compared(const Row& row, Compared by);
/// Returns the mean with its interval over the seeds that have the number; NaN where there is none.
Interval seeds_interval(const Row& row, std::optional<double> SeedNumbers::*number);

/// The relation of two rows, of which the first has the smaller mean.
enum class Lead {
  clear,     ///< the interval of the paired differences is above 0
  equal,     ///< the means differ by 0.5 % at most, and chance by no more
  unclear,   ///< the interval contains 0, or is below 0
  one_seed,  ///< ahead, but with fewer than two seeds in common nothing is known of chance
};
struct Difference {
  Lead lead = Lead::clear;
  std::vector<double> pairs;  ///< second less first, by seed
  Interval of_pairs;          ///< their mean, with its interval
};
/// Both rows must have the number.
Difference difference(const Row& first, const Row& second, Compared by);

/// The top of a ranking.
struct Leaders {
  std::vector<std::size_t> all;     ///< the first, and every row that is not clearly behind it
  std::optional<std::size_t> next;  ///< the best of the others
  /// Unclear if chance may decide among `all`; else one_seed if a row is behind by one seed alone; else equal if `all`
  /// are several.
  Lead lead = Lead::clear;
};
/// ranked: rows with the number, the smallest mean first.
Leaders leaders(const std::vector<const Row*>& ranked, Compared by);
/// Returns the rows of the comparison that may win, the smallest mean first.
std::vector<const Row*> ranked(const Comparison& comparison, Compared by);

/// The remark on a ranking by one seed, or by one seed in common.
std::string one_seed_remark(const Comparison& comparison);

}  // namespace simgrad::outputs
