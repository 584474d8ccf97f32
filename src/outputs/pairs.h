/// Comparisons of all pairs of strategies at a grid point, for pairs.csv and for the matrix of pairs in a paper and on
/// the page.
///
/// A pair is compared seed by seed, as in leaders.h. A matrix of many pairs has some small p-values by chance alone, so
/// that they are corrected by Holm's method over all pairs of the grid point's `most_in_pairs` fastest strategies.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "outputs/leaders.h"
#include "outputs/result_tables.h"

namespace simgrad::outputs {

/// The most strategies of a grid point that are compared in pairs: those with the smallest means.
inline constexpr std::size_t most_in_pairs = 40;
/// The most strategies of a matrix of pairs, in a paper and on the page.
inline constexpr std::size_t most_in_matrix = 8;

struct Pair {
  std::size_t first = 0, second = 0;  ///< places in PointPairs::rows; the first has the smaller mean
  std::size_t seeds = 0;              ///< in common, at least two
  Interval behind;                    ///< the mean of the differences, second less first, with its 95 % interval
  double p = nan;                     ///< of the paired t test
  double p_holm = nan;                ///< corrected for all pairs of the grid point
};

struct PointPairs {
  std::vector<const Row*> rows;  ///< those that may win, the smallest mean first
  std::vector<Pair> pairs;       ///< by `first`, then by `second`
};

/// Returns the number by which strategies are compared at a grid point, and its name in results.json: the time to the
/// target where the results have a target, else the time per sample.
Compared pairs_compared_by(const Comparison& comparison);
std::string_view name_of(Compared by);

/// Returns the rows of each grid point, in the order of their first runs.
std::vector<std::vector<const Row*>> rows_by_point(const Comparison& comparison);

/// Compares the rows of one grid point in pairs. Differences of less than a millionth of a millionth of the smaller
/// mean are rounding, and count as 0.
PointPairs compared_in_pairs(const std::vector<const Row*>& point, Compared by);

/// Returns the table: a row a pair with two seeds in common at least.
ResultTable pairs_table(const Results& results);
/// Returns whether the table has a row.
bool has_pairs(const Results& results);

}  // namespace simgrad::outputs
