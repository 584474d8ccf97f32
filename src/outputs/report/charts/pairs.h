/// Pairs: the differences between strategies that are more than chance, by the p-values of pairs.csv.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/pairs.h"
#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

/// The matrix of a grid point.
struct PairsRow {
  Subject fastest;
  std::string sentence;                 ///< on this grid point
  std::vector<std::size_t> strategies;  ///< of the matrix, the smallest mean first: `most_in_matrix` at most
  std::vector<double> means;            ///< of these
  std::size_t left_out = 0;             ///< strategies that are compared, and are not in the matrix
  std::size_t tested = 0;               ///< pairs, for which the p-values are corrected
  std::size_t least_seeds = 0;          ///< that a pair has in common
  std::size_t most_seeds = 0;
  std::vector<Pair> cells;  ///< `first` and `second` are places in `strategies`
};

/// The table has all pairs, in the order of pairs.csv.
struct Pairs : Chart {
  bool to_target = false;  ///< times to the target are compared, else times per sample
  std::vector<PairsRow> rows;
};

/// A corrected p-value below is called more than chance.
inline constexpr double significant_below = 0.05;

/// Returns nothing where no pair has two seeds in common, and for jobs, which do not compete.
std::optional<Pairs> pairs(const ReportModel& model);

void write(Writer& writer, const Pairs& pairs);

}  // namespace simgrad::outputs::report
