/// Reader of CSV files: numbers are kept, texts are one-hot encoded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/csv_table.h"
#include "data/source.h"

namespace simgrad::data {

/// Features are all columns but the target and those to ignore, in the file's order.
///
/// A column is a text column if most of its present cells are not numbers. It becomes one feature for each value,
/// "column=value", in the order of the values: 1 where the row has the value and 0 elsewhere. A single text among
/// numbers is an error, not a category, and so is a text that would be a number with a decimal comma, unless `decimal`
/// says that it is none. A cell is missing if it is empty, `?`, `NA` or `nan`. `missing = "mean"`
/// replaces it by the column's mean, in a text column by its most frequent value (over the whole file: the test set is
/// not known here).
/// A row without a target is dropped under both "drop" and "mean": an invented label would be worse than none.
/// For clustering there is no target; a `target` that is named is left out. For recommendation see csv_ratings.h.
struct Csv : Source {
  static constexpr base::About about{
      .kind = "csv",
      .summary = "A CSV file: numeric columns are kept, text columns are one-hot encoded",
      .cost = "one pass over the file; 24 bytes a cell while reading",
      .source = "RFC 4180, Y. Shafranovich, Common Format and MIME Type for CSV Files, 2005"};
  enum class Missing { refuse, drop, mean };

  std::string path;
  std::optional<std::string> target;  ///< a column's name, else its zero-based index; default the last column
  std::optional<std::string> user;    ///< likewise; default the first column
  std::optional<std::string> item;    ///< likewise; default the second column
  std::vector<std::string> ignore;    ///< columns that are no features, by name or zero-based index
  bool header = true;
  std::string separator = ",";         ///< one byte
  std::optional<std::string> decimal;  ///< "." or ","; left out: ".", and numbers with a comma are no category
  Missing missing = Missing::refuse;

  void describe(base::Describer& d) override;
  bool generates() const override { return false; }
  bool suits(Task task) const override { return task != Task::text && task != Task::mixture; }
  std::vector<std::string> files() const override { return {path}; }
  Dataset load(const Request& request) const override;
  /// The form of the file, once the options are sound.
  CsvForm form() const { return {separator[0], decimal ? decimal->front() : '.', header}; }

  /// The data set that a file's text describes; `path` is only for errors.
  Dataset read(std::string text, const Request& request) const;
};

}  // namespace simgrad::data
