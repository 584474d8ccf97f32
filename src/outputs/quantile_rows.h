/// Rows of ranks and of links in a large experiment: quantiles of each run in place of a row an item.
#pragma once

#include <cstddef>
#include <string>

#include "outputs/result_tables.h"

namespace simgrad::outputs {

/// A table of several runs with more rows than these has quantiles, unless the results ask for all rows.
inline constexpr std::size_t most_rows_in_full = 20'000;

/// Returns the table with seven rows for each group of more than seven rows of a run: the minimum, the 5 %, 25 %, 50 %,
/// 75 % and 95 % quantiles and the maximum of each column by itself, so that the numbers of one row need not belong to
/// one rank. A q-quantile is the least value that a share q of the group does not exceed. A column "quantile" is added,
/// which is empty in the rows of smaller groups. Texts that all rows of a group have in common stay.
/// group: the column whose values divide a run's rows; name: that of the item's name or number, empty in such a row.
/// The rows of a run follow each other, and the first column is the run's.
ResultTable by_quantiles(ResultTable table, const std::string& group, const std::string& name);

}  // namespace simgrad::outputs
