/// The pass of all linear models over the rows: once from memory, four rows at a time.
///
/// A block's scores are computed and its residuals added to the gradient while its rows are in the first-level cache:
/// a data set larger than the caches is read once, where the two products X w and X^T r read it twice. Rows are read in
/// place, also those of an index list: nothing is copied, and only a few words are on the stack.
///
/// The order of the additions is fixed by the inputs alone: a product adds its columns in four interleaved sums, a
/// gradient adds its rows in their order. It depends neither on the block a row falls into, nor on alignment, nor, on
/// x86-64, on the processor: no multiplication is fused with an addition.
/// Cost: 2 d flops a row for dot, 2 d for add; 8 d bytes from memory a row for both.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/model.h"

namespace simgrad::models {

/// Up to four rows x_i and their targets y_i. Places past `count` repeat the last row; their results are ignored.
struct RowBlock {
  static constexpr int capacity = 4;
  std::array<const double*, capacity> x{};     ///< each (d)
  std::array<const double*, capacity> next{};  ///< the rows after them, or these again: what to read ahead
  std::array<double, capacity> y{};
  int count = 0;
};

/// One number for each row of a block.
using BlockNumbers = std::array<double, RowBlock::capacity>;

/// The samples' rows at, at + 1, ...  0 <= at < rows.count.
RowBlock row_block(const Samples& rows, std::int64_t at);

/// The scores s_i = x_i . w for all places of the block.  w: (d).
BlockNumbers dot(const RowBlock& block, const double* w, std::int64_t d);
/// As dot, for the block's first: it also asks memory for the rows of the next one, which are on their way while this
/// block is computed.
BlockNumbers first_dot(const RowBlock& block, const double* w, std::int64_t d);

/// Adds the sum over the block's rows of r_i x_i, in their order, to g.  g: (d).
void add(const RowBlock& block, const BlockNumbers& r, double* g, std::int64_t d);

/// Visits all rows, block by block, in their order.
template <class Visit>
void for_each_block(const Samples& rows, Visit visit) {
  for (std::int64_t at = 0; at < rows.count; at += RowBlock::capacity) visit(row_block(rows, at));
}

}  // namespace simgrad::models
