/// The rows of a source in the training set and in the test set.
///
/// Rows are made where they will stay, or moved there within the matrix that the source has read: the numbers are in
/// memory once. Only the constant feature, for which a matrix that was read has no room, and sparse rows make a copy.
#pragma once

#include <cstdint>
#include <vector>

#include "data/generator.h"

namespace simgrad::data {

/// For both sets the rows of the source, in the order of the set.
struct RowsOfSets {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> test;
};

/// Each row of the source is in one of the sets.  bias: each gets a last column of ones.  threads: that make rows.
Split placed(Rows rows, const RowsOfSets& order, bool bias, int threads);

}  // namespace simgrad::data
