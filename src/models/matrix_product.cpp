/// Blocks of B of 256 x 1,024 numbers stay in the last-level cache, of A of 96 x 256 in the second, and a strip of B of
/// a tile's columns in the first. They are constants, though the bits do not depend on them.
#include "models/matrix_product.h"

#include <algorithm>

#include "base/errors.h"

namespace simgrad::models {

namespace {

constexpr std::int64_t rows_of_a = 96;  // a multiple of every tile's rows
constexpr std::int64_t rows_of_b = 256;
constexpr std::int64_t columns_of_b = 1024;

constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// The first number in `numbers` at a multiple of 64 bytes, with room for `count` behind it.
template <class Real>
Real* aligned_room(std::vector<Real>& numbers, std::int64_t count) {
  constexpr std::size_t line = 64 / sizeof(Real);
  if (numbers.size() < static_cast<std::size_t>(count) + line) numbers.resize(static_cast<std::size_t>(count) + line);
  const auto past = reinterpret_cast<std::uintptr_t>(numbers.data()) / sizeof(Real) % line;
  return numbers.data() + (line - past) % line;
}

/// Copies `count` vectors of length k side by side: result[p width + i] is number p of vector i; the places of vectors
/// that are missing at the edge are 0.  M: number p of vector i is M(i, p).
template <class Real>
void pack_strip(MatrixView<Real> M, std::int64_t count, std::int64_t k, std::int64_t width, Real* result) {
  if (M.row_stride == 1) {
    for (std::int64_t p = 0; p < k; ++p, result += width) {
      std::copy_n(M.numbers + p * M.column_stride, count, result);
      std::fill_n(result + count, width - count, Real{0});
    }
    return;
  }
  constexpr std::int64_t line = 16;
  for (std::int64_t first = 0; first < k; first += line) {
    const std::int64_t last = std::min(first + line, k);
    for (std::int64_t i = 0; i < count; ++i) {
      const Real* const vector = M.numbers + i * M.row_stride;
      for (std::int64_t p = first; p < last; ++p) result[p * width + i] = vector[p * M.column_stride];
    }
    for (std::int64_t p = first; p < last; ++p) std::fill_n(result + p * width + count, width - count, Real{0});
  }
}

/// Copies (vectors x k) numbers in strips of `width` vectors.
template <class Real>
void pack(MatrixView<Real> M, std::int64_t vectors, std::int64_t k, std::int64_t width, Real* result) {
  for (std::int64_t first = 0; first < vectors; first += width) {
    const MatrixView<Real> strip{M.numbers + first * M.row_stride, M.row_stride, M.column_stride};
    pack_strip(strip, std::min(width, vectors - first), k, width, result + first * k);
  }
}

}  // namespace

template <class Real>
void MatrixProduct<Real>::set(const ProductSize& size, MatrixView<Real> A, MatrixView<Real> B, Real* c,
                              std::int64_t c_stride) {
  compute(size, A, B, c, c_stride, true);
}

template <class Real>
void MatrixProduct<Real>::add(const ProductSize& size, MatrixView<Real> A, MatrixView<Real> B, Real* c,
                              std::int64_t c_stride) {
  compute(size, A, B, c, c_stride, false);
}

template <class Real>
void MatrixProduct<Real>::compute(const ProductSize& size, MatrixView<Real> A, MatrixView<Real> B, Real* c,
                                  std::int64_t c_stride, bool fresh) {
  base::check(size.m >= 0 && size.n >= 0 && size.k >= 1, "a product has sums of one term at least");
  Real* const a = aligned_room(a_, rows_of_a * rows_of_b);
  Real* const b = aligned_room(b_, rows_of_b * rounded_up(std::min(columns_of_b, size.n), tile_.columns));
  for (std::int64_t j = 0; j < size.n; j += columns_of_b)
    for (std::int64_t p = 0; p < size.k; p += rows_of_b) {
      const std::int64_t n = std::min(columns_of_b, size.n - j), k = std::min(rows_of_b, size.k - p);
      const MatrixView<Real> B_T{B.numbers + p * B.row_stride + j * B.column_stride, B.column_stride, B.row_stride};
      pack(B_T, n, k, tile_.columns, b);
      for (std::int64_t i = 0; i < size.m; i += rows_of_a) {
        const std::int64_t m = std::min(rows_of_a, size.m - i);
        pack({A.numbers + i * A.row_stride + p * A.column_stride, A.row_stride, A.column_stride}, m, k, tile_.rows, a);
        multiply_block({m, n, k}, c + i * c_stride + j, c_stride, fresh && p == 0);
      }
    }
}

/// One block: the packed rows of A times the packed columns of B.
template <class Real>
void MatrixProduct<Real>::multiply_block(const ProductSize& block, Real* c, std::int64_t c_stride, bool fresh) {
  const std::int64_t rows = tile_.rows, columns = tile_.columns;
  const Real* const a = aligned_room(a_, 0);
  const Real* const b = aligned_room(b_, 0);
  Real* const edge = aligned_room(edge_, rows * columns);
  for (std::int64_t j = 0; j < block.n; j += columns)
    for (std::int64_t i = 0; i < block.m; i += rows) {
      const std::int64_t m = std::min(rows, block.m - i), n = std::min(columns, block.n - j);
      Real* const corner = c + i * c_stride + j;
      if (m == rows && n == columns) {
        tile_.compute(block.k, a + i * block.k, b + j * block.k, corner, c_stride, fresh);
        continue;
      }
      for (std::int64_t r = 0; r < m && !fresh; ++r) std::copy_n(corner + r * c_stride, n, edge + r * columns);
      tile_.compute(block.k, a + i * block.k, b + j * block.k, edge, columns, fresh);
      for (std::int64_t r = 0; r < m; ++r) std::copy_n(edge + r * columns, n, corner + r * c_stride);
    }
}

template class MatrixProduct<float>;
template class MatrixProduct<double>;

}  // namespace simgrad::models
