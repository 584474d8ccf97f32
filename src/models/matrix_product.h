/// Products of matrices whose bits are the same on every machine, C = A B and C += A B.
///
/// Every number of C is one chain of fused multiply-adds over k in increasing order, c <- fma(a_ik, b_kj, c). So the
/// bits depend neither on the instructions, nor on the sizes of blocks, nor on the rows and columns around a number.
/// Parts of A and B are copied into the order in which a tile of C reads them. Source: K. Goto, R. A. van de Geijn,
/// Anatomy of High-Performance Matrix Multiplication, ACM Transactions on Mathematical Software 34, 2008.
/// Cost: 2 m n k flops.
#pragma once

#include <cstdint>
#include <vector>

#include "models/matrix_product_tiles.h"

namespace simgrad::models {

/// A matrix that is read: the number in row i and column j is numbers[i row_stride + j column_stride].
template <class Real>
struct MatrixView {
  const Real* numbers = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;

  MatrixView transposed() const { return {numbers, column_stride, row_stride}; }
};

/// The sizes of a product: C is (m x n), A (m x k), B (k x n).
struct ProductSize {
  std::int64_t m = 0, n = 0, k = 0;
};

/// Computes products one after another, and keeps the memory for copies from one to the next.
template <class Real>
class MatrixProduct {
 public:
  /// instructions: of a processor that has them.
  explicit MatrixProduct(Instructions instructions = widest_instructions()) : tile_(tile_for<Real>(instructions)) {}

  /// C = A B.  c: its rows are c_stride numbers apart.
  void set(const ProductSize& size, MatrixView<Real> A, MatrixView<Real> B, Real* c, std::int64_t c_stride);
  /// C += A B.
  void add(const ProductSize& size, MatrixView<Real> A, MatrixView<Real> B, Real* c, std::int64_t c_stride);

 private:
  void compute(const ProductSize& size, MatrixView<Real> A, MatrixView<Real> B, Real* c, std::int64_t c_stride,
               bool fresh);
  void multiply_block(const ProductSize& block, Real* c, std::int64_t c_stride, bool fresh);

  Tile<Real> tile_;
  std::vector<Real> a_, b_, edge_;  ///< copies of a block of A and of B; a tile at C's edge
};

}  // namespace simgrad::models
