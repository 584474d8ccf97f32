/// The encoding of samples: how cells of a file became the numbers that a model learns from, so that rows that come
/// later are read in the same way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/csv_table.h"
#include "data/dataset.h"
#include "data/standardize.h"

namespace simgrad::data {

struct Encoding {
  /// The form of a file of further rows.
  enum class Form {
    table,    ///< CSV with a column for each of `columns`
    sparse,   ///< LIBSVM
    ratings,  ///< CSV with a user and an item
    text,     ///< bytes or characters
    tokens    ///< whole numbers 0 .. vocabulary-1 between blanks
  };
  enum class Gap { refuse, drop, mean };

  /// A column of a CSV file.
  struct Column {
    std::string name;
    std::int64_t place = -1;               ///< its zero-based index in a file without a header; -1: unknown
    std::vector<std::string> values = {};  ///< of a text column, one for each of its features; empty: numbers
    double substitute = 0.0;               ///< for missing cells: a number, or the index of a value
  };

  /// Sets the form of a CSV file.  file_columns: all columns of the file.
  void set_table(const CsvForm& of_file, Gap rule, std::int64_t all_columns) {
    header = of_file.header;
    separator = of_file.separator;
    decimal = of_file.decimal;
    missing = rule;
    file_columns = all_columns;
  }

  Form form = Form::table;
  Task task = Task::regression;
  // CSV:
  bool header = true;
  char separator = ',';
  char decimal = '.';
  Gap missing = Gap::refuse;         ///< the rule for missing cells
  std::int64_t file_columns = 0;     ///< of the training's file, the target and columns that were ignored included
  std::vector<Column> columns = {};  ///< those of features, in the features' order; of ratings a user and an item
  Column target = {};                ///< without a name: there is none
  // Ratings: the whole numbers that are users 0, 1, ... and items, ascending. Empty: the numbers are the names.
  std::vector<double> users = {};
  std::vector<double> items = {};
  // LIBSVM:
  std::int64_t first_index = 1;  ///< the index of feature 0
  // Text: the code points that are tokens 0, 1, ..., ascending. Empty: bytes are.
  std::vector<std::uint32_t> characters = {};

  std::int64_t vocabulary = 0, user_count = 0, item_count = 0;  ///< as in Dataset
  std::int64_t features = 0;  ///< columns of the encoded rows, without the constant feature
  bool bias = false;          ///< a last column of ones follows
  bool sparse = false;        ///< encoded rows are sparse
  std::int64_t fields = 0;    ///< as in Dataset
  std::vector<std::string> class_names = {};
  Scaling scaling = {};         ///< of the features; without means: none
  Scaling target_scaling = {};  ///< of the target; without means: none

  /// One for each source of a mixture, by name; else none.
  std::vector<std::string> part_names = {};
  std::vector<Encoding> parts = {};
};

/// The encoding of a data set whose source has none of its own: a generator's, or one of arrays. Its features are
/// columns of a CSV file by their names, its sparse rows those of a LIBSVM file, its tokens numbers.
Encoding plain_encoding(const Dataset& set, Task task);

}  // namespace simgrad::data
