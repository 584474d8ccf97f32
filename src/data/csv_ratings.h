/// A CSV table of ratings: three of its columns are user, item and rating; the other columns are ignored.
///
/// Users and items are whole numbers that serve as names; in ascending order they become 0, 1, 2, ... Rows in which one
/// of the three cells is missing are refused, or dropped under "drop" and "mean".
#pragma once

#include "data/csv.h"
#include "data/csv_table.h"

namespace simgrad::data {

/// The data set: the features are user and item, the target is the rating.  Errors: ScenarioError `path:line:` for
/// columns that do not exist or are named twice, and for cells of another kind.
/// hint: the end of an error about too few columns, or empty.
Dataset csv_ratings(const Csv& options, const CsvTable& table, const std::string& hint);

}  // namespace simgrad::data
