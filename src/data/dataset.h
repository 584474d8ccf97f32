/// Labelled samples, as every reader and generator delivers them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace simgrad::data {

/// What samples are for: targets are numbers, classes, or ratings (of an item by a user), or there are none.
enum class Task { regression, classification, recommendation, clustering };

/// n samples of d features. Immutable once loaded; loaded once and shared by all ranks of all runs.
struct Dataset {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  int classes = 0;                         ///< 0: a regression
  std::int64_t users = 0;                  ///< of ratings: column 0 is a user 0 .. users-1, column 1 an item
  std::int64_t items = 0;
  std::vector<double> features;            ///< rows x columns, row-major
  std::vector<double> targets;             ///< rows; for a classification the class 0 .. classes-1
  std::vector<std::string> feature_names;  ///< columns
  std::string target_name;
  std::vector<std::string> class_names;    ///< classes

  std::span<const double> row(std::int64_t i) const {
    return {features.data() + i * columns, static_cast<std::size_t>(columns)};
  }
};

/// What training and evaluation see.
struct Split {
  Dataset train;
  Dataset test;  ///< no rows without a test fraction
};

}  // namespace simgrad::data
