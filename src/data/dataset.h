/// Labelled samples: the result of every reader and generator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/unset_vector.h"

namespace simgrad::data {

/// The task that samples serve: targets are numbers, classes, or ratings (of an item by a user), or there are none; or
/// rows are stretches of a text, and targets the tokens behind them; or samples have rows of several sources, each with
/// a target of its own.
enum class Task { regression, classification, recommendation, clustering, text, mixture };

/// The entries that are not zero, in rows that are mostly zero (CSR).
struct SparseRows {
  std::vector<std::int64_t> starts;  ///< (rows + 1): where a row's entries begin
  std::vector<std::uint32_t> keys;   ///< an entry's feature, 0 .. columns-1
  std::vector<double> values;        ///< (entries); empty: all are 1

  bool any() const { return !starts.empty(); }
  std::int64_t entries() const { return static_cast<std::int64_t>(keys.size()); }
};

struct Encoding;

/// One source's columns of a mixture: `rows` rows, one after the other, each its features and then its target.
struct PartColumns {
  std::string name;
  std::int64_t first = 0;     ///< its first column
  std::int64_t features = 0;  ///< of a row
  std::int64_t rows = 1;      ///< of this source in every sample
  int classes = 0;            ///< 0: targets are numbers

  std::int64_t columns() const { return rows * (features + 1); }
};

/// n samples of d features. Immutable once loaded; loaded once and shared by all ranks of all runs.
struct Dataset {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  int classes = 0;         ///< 0: a regression
  std::int64_t users = 0;  ///< ratings only: column 0 is a user 0 .. users-1, column 1 an item
  std::int64_t items = 0;
  std::int64_t vocabulary = 0;         ///< text only: every number of a row is a token 0 .. vocabulary-1
  base::UnsetVector<double> features;  ///< rows x columns, row-major; empty where the rows are sparse
  SparseRows sparse;
  std::int64_t fields = 0;                 ///< every sparse row has one entry for each, in their order; 0: not so
  std::vector<PartColumns> parts = {};     ///< of a mixture, whose `targets` are all 0; else none
  bool in_time = false;                    ///< rows are in the order of time, and are not shuffled
  std::vector<double> targets;             ///< rows; in a classification the class 0 .. classes-1
  std::vector<std::string> feature_names;  ///< columns; empty where the rows are sparse
  std::string target_name;
  std::vector<std::string> class_names;  ///< classes
  std::optional<double> loss_floor;      ///< the least expected loss that any model can reach, where it is known
  std::vector<std::string> notes;        ///< for the reader: a column that looks like an identifier, say
  std::shared_ptr<const Encoding> encoding = {};  ///< how a file's cells became these numbers; null: plain_encoding

  std::span<const double> row(std::int64_t i) const {
    return {features.data() + i * columns, static_cast<std::size_t>(columns)};
  }
};

/// The training set and the test set.
struct Split {
  Dataset train;
  Dataset test;                                   ///< no rows without a test fraction
  std::shared_ptr<const Encoding> encoding = {};  ///< how further rows are read and scaled as these are
};

}  // namespace simgrad::data
