/// Reader of CSV files: numbers as they are, texts one-hot encoded.
#pragma once

#include <optional>
#include <string>

#include "data/source.h"

namespace simgrad::data {

/// Features are all columns but the target, in the file's order.
///
/// A column is a text column if most of its cells that are not missing are no numbers; it becomes one feature a
/// value, "column=value", values sorted, 1 where the row has the value and 0 elsewhere. One text among numbers is a
/// fault, not a category. Missing are cells that are empty, `?`, `NA` or `nan`; `missing = "mean"` puts in the
/// column's mean, for a text column its most frequent value (of the whole file: the test set is not known here).
/// A row without a target is dropped under "drop" and under "mean": a made-up label would be worse than none.
/// For clustering there is no target, unless one is named to be left out. For recommendation see csv_ratings.h.
struct Csv : Source {
  static constexpr base::About about{
      .kind = "csv",
      .summary = "A CSV file: numeric columns as they are, text columns one-hot encoded",
      .cost = "one pass over the file; 24 bytes a cell while reading",
      .source = "RFC 4180, Y. Shafranovich, Common Format and MIME Type for CSV Files, 2005"};
  enum class Missing { refuse, drop, mean };

  std::string path;
  std::optional<std::string> target;  ///< a column's name, else its zero-based index; default the last column
  std::optional<std::string> user;    ///< as target; default the first column
  std::optional<std::string> item;    ///< default the second
  bool header = true;
  std::string separator = ",";  ///< one byte
  Missing missing = Missing::refuse;

  void describe(base::Describer& d) override;
  bool generates() const override { return false; }
  bool suits(Task) const override { return true; }
  std::vector<std::string> files() const override { return {path}; }
  Dataset load(const Request& request) const override;

  /// The data set that the text of a file means; `path` serves for errors only.
  Dataset read(std::string text, const Request& request) const;
};

}  // namespace simgrad::data
