/// A CSV table of ratings: three of its columns tell user, item and rating, and the others are left aside.
///
/// Users and items are whole numbers that tell them apart and are otherwise without meaning; the different ones, in
/// their order, become 0, 1, 2, ... Rows that miss one of the three cells are refused, or dropped under "drop" and
/// "mean".
#pragma once

#include "data/csv.h"
#include "data/csv_table.h"

namespace simgrad::data {

/// Features: user and item; the target is the rating.
/// Errors: ScenarioError `path:line:` for columns that are not there or are the same, and for cells of another kind.
Dataset csv_ratings(const Csv& options, const CsvTable& table);

}  // namespace simgrad::data
