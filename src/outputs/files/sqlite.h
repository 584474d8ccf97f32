/// The results as an SQLite database, for those who query: the tables of the CSV files with typed columns.
#pragma once

#include <string>

#include "outputs/results.h"

namespace simgrad::outputs {

/// Writes a table a CSV file, with its columns and its numbers; null is NULL, a flag 0 or 1. Texts stand as in
/// results.json, without the apostrophe that guards formulas in CSV. The columns `run` and `id` are indexed.
///
/// Whole or not there: one transaction in a file with a temporary name, which is then renamed. Equal results give equal
/// bytes with the same version of SQLite; a database of equal results that nobody has changed stays as it is.  Errors:
/// base::EnvironmentError naming the file and the reason.
void write_sqlite(const Results& results, const std::string& path);

}  // namespace simgrad::outputs
