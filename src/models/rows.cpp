/// The two innermost loops of all linear models.
///
/// Measured with g++ 12 on an AMD EPYC (Zen 5), time over Eigen's two products on the whole matrix (the first column is
/// tests/bench/kernel_bench.cpp; the others are variants tried once):
///                                                     these   without AVX2   Eigen on blocks of 32 or 64 rows
///     all of 20000 x 784, one score a row              0.46       0.72          0.46
///     the same, softmax of 10 classes                  0.44       1.00          0.76
/// An Intel Xeon has 0.60 of them, and 0.49 since each block asks memory for the next one.
/// Random batches of 256 of these rows: 0.53 to 0.61 of Eigen's products on blocks of 32 rows copied together.
#include "models/rows.h"

#include <cstdlib>

#include "base/vectors.h"

namespace simgrad::models {
namespace {

/// Four columns. With a plain array of four sums, which GCC 12 keeps in memory, the loop takes 1.7 times as long in
/// cache.
using Lanes [[gnu::vector_size(4 * sizeof(double)), gnu::aligned(alignof(double)), gnu::may_alias]] = double;
constexpr std::int64_t lanes = 4;

/// A pointer: through a reference clang would take the lanes for aligned.
const Lanes* lanes_at(const double* x) { return reinterpret_cast<const Lanes*>(x); }

/// Rows of at most so many columns are read ahead whole: two blocks of them are in the second-level cache. Of longer
/// rows only the beginnings are.
constexpr std::int64_t read_ahead_most = 1 << 12;

/// Prefetches the start of the next rows. Hardware prefetches along a row whose first lines were read, but it cannot
/// guess where the rows of an index list begin.
void ask_memory_for_beginnings(const RowBlock& block) {
  constexpr std::int64_t line = 64 / sizeof(double);
  for (const double* const x : block.next)
    for (std::int64_t j = 0; j < 16 * line; j += line) __builtin_prefetch(x + j);
}

/// A block's products with w, and requests for the lines of the next block at the same places if it is to read ahead.
template <bool reads_ahead>
[[gnu::always_inline]] inline BlockNumbers products(const RowBlock& block, const double* w, std::int64_t d) {
  constexpr std::int64_t line = 2 * lanes;
  const auto [x0, x1, x2, x3] = block.x;
  const auto [n0, n1, n2, n3] = block.next;
  Lanes s0{}, s1{}, s2{}, s3{};
  const auto add_lanes = [&](std::int64_t j) __attribute__((always_inline)) {
    s0 += *lanes_at(x0 + j) * *lanes_at(w + j);
    s1 += *lanes_at(x1 + j) * *lanes_at(w + j);
    s2 += *lanes_at(x2 + j) * *lanes_at(w + j);
    s3 += *lanes_at(x3 + j) * *lanes_at(w + j);
  };
  std::int64_t j = 0;
  for (; j + line <= d; j += line) {
    if constexpr (reads_ahead)
      for (const double* const next : {n0, n1, n2, n3}) __builtin_prefetch(next + j, 0, 2);
    add_lanes(j);
    add_lanes(j + lanes);
  }
  for (; j + lanes <= d; j += lanes) add_lanes(j);
  BlockNumbers s{(s0[0] + s0[1]) + (s0[2] + s0[3]), (s1[0] + s1[1]) + (s1[2] + s1[3]),
                 (s2[0] + s2[1]) + (s2[2] + s2[3]), (s3[0] + s3[1]) + (s3[2] + s3[3])};
  for (; j < d; ++j) {
    s[0] += x0[j] * w[j];
    s[1] += x1[j] * w[j];
    s[2] += x2[j] * w[j];
    s[3] += x3[j] * w[j];
  }
  return s;
}

}  // namespace

RowBlock row_block(const Samples& rows, std::int64_t at) {
  RowBlock block;
  block.count = static_cast<int>(std::min<std::int64_t>(RowBlock::capacity, rows.count - at));
  const auto x = [&](std::int64_t i) { return rows.features + rows.row(i) * rows.columns; };
  for (int i = 0; i < RowBlock::capacity; ++i) {
    const auto place = static_cast<std::size_t>(i);
    const std::int64_t own = at + std::min(i, block.count - 1);
    block.x[place] = x(own);
    block.y[place] = rows.targets[rows.row(own)];
    block.next[place] = x(std::min(at + RowBlock::capacity + i, rows.count - 1));
  }
  if (rows.columns > read_ahead_most) {
    ask_memory_for_beginnings(block);
    block.next = block.x;
  }
  return block;
}

// AVX2 halves the instructions.
SIMGRAD_AVX2_IF_THERE BlockNumbers dot(const RowBlock& block, const double* w, std::int64_t d) {
  return products<false>(block, w, d);
}
SIMGRAD_AVX2_IF_THERE BlockNumbers first_dot(const RowBlock& block, const double* w, std::int64_t d) {
  return products<true>(block, w, d);
}

SIMGRAD_AVX2_IF_THERE void add(const RowBlock& block, const BlockNumbers& r, double* __restrict g, std::int64_t d) {
  const auto [x0, x1, x2, x3] = block.x;
  const auto [r0, r1, r2, r3] = r;
  if (block.count == RowBlock::capacity) {
    for (std::int64_t j = 0; j < d; ++j) g[j] = (((g[j] + r0 * x0[j]) + r1 * x1[j]) + r2 * x2[j]) + r3 * x3[j];
    return;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i)
    for (std::int64_t j = 0; j < d; ++j) g[j] += r[i] * block.x[i][j];
}

}  // namespace simgrad::models
