/// The tables of the results, row by row: the CSV files and the SQLite database are two spellings of them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "outputs/results.h"

namespace simgrad::outputs {

/// The type of a column's values. A grid may give one key numbers and texts, so its columns have any type.
enum class ColumnType { integer, number, text, any };

struct ResultColumn {
  std::string name;
  ColumnType type = ColumnType::any;
};

using ResultRow = std::vector<nlohmann::ordered_json>;

struct ResultTable {
  std::string name;  ///< "runs": the stem of the CSV file's name
  std::vector<ResultColumn> columns;
  /// Calls a function with each row in turn. A row has a value a column; a number that is absent or not finite is null.
  std::function<void(const std::function<void(const ResultRow& row)>& use)> each_row;
};

ResultTable runs_table(const Results& results);
/// A row a (grid point, label): numbers of runs, means and 95 % intervals over the seeds (point_summary.h).
ResultTable summary_table(const Results& results);
ResultTable curves_table(const Results& results);
ResultTable ranks_table(const Results& results);
ResultTable links_table(const Results& results);
ResultTable link_utilisation_table(const Results& results);  ///< runs that recorded none have no rows

/// Returns the tables in the order of the documentation; pairs (pairs.h) only if two strategies have two seeds in
/// common, link_utilisation only if a run recorded it. They refer to the results, which must outlive them. Baselines
/// are in none of them.
std::vector<ResultTable> result_tables(const Results& results);

/// The text with U+FFFD for bytes that are not UTF-8, as in results.json.
std::string sound_text(const std::string& text);

}  // namespace simgrad::outputs
