// Products of matrices: every set of instructions computes the bits of the chain of fused multiply-adds.
#include "models/matrix_product.h"

#include <Eigen/Core>
#include <cmath>

#include "catch.h"

namespace matrix_product_test {

using namespace simgrad::models;

namespace {

template <class Real>
std::vector<Real> numbers(std::int64_t count, std::int64_t offset) {
  std::vector<Real> all;
  for (std::int64_t j = 0; j < count; ++j)
    all.push_back(static_cast<Real>((37 * (j + offset)) % 101 - 50) / static_cast<Real>(7 + j % 5));
  return all;
}

/// c_ij <- fma(a_ip, b_pj, c_ij) for p in increasing order.
template <class Real>
void chains(const ProductSize& size, MatrixView<Real> A, MatrixView<Real> B, std::vector<Real>& c, std::int64_t stride,
            bool fresh) {
  for (std::int64_t i = 0; i < size.m; ++i)
    for (std::int64_t j = 0; j < size.n; ++j) {
      Real& c_ij = c[static_cast<std::size_t>(i * stride + j)];
      if (fresh) c_ij = 0;
      for (std::int64_t p = 0; p < size.k; ++p)
        c_ij = std::fma(A.numbers[i * A.row_stride + p * A.column_stride],
                        B.numbers[p * B.row_stride + j * B.column_stride], c_ij);
    }
}

template <class Real>
void check_bits(Instructions instructions) {
  if (!has(instructions)) return;
  MatrixProduct<Real> product(instructions);
  for (const auto& [m, n, k] :
       {ProductSize{1, 1, 1}, {5, 3, 2}, {12, 32, 8}, {13, 33, 7}, {100, 17, 300}, {97, 64, 257}, {25, 1030, 40}})
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true})
        for (const bool fresh : {false, true}) {
          CAPTURE(static_cast<int>(instructions), m, n, k, a_transposed, b_transposed, fresh);
          const std::vector<Real> a = numbers<Real>(m * k, 1), b = numbers<Real>(k * n, 2);
          const MatrixView<Real> A =
              a_transposed ? MatrixView<Real>{a.data(), m}.transposed() : MatrixView<Real>{a.data(), k};
          const MatrixView<Real> B =
              b_transposed ? MatrixView<Real>{b.data(), k}.transposed() : MatrixView<Real>{b.data(), n};
          const std::int64_t stride = n + 3;  // what lies between the rows stays
          std::vector<Real> c = numbers<Real>(m * stride, 3), expected = c;
          if (fresh)
            product.set({m, n, k}, A, B, c.data(), stride);
          else
            product.add({m, n, k}, A, B, c.data(), stride);
          chains({m, n, k}, A, B, expected, stride, fresh);
          CHECK(c == expected);
        }
}

}  // namespace

TEST_CASE("products have the bits of chains of fused multiply-adds, with every set of instructions") {
  for (const Instructions instructions : {Instructions::portable, Instructions::avx2, Instructions::avx512}) {
    check_bits<float>(instructions);
    check_bits<double>(instructions);
  }
  CHECK(has(Instructions::portable));
  CHECK(has(widest_instructions()));
}

TEST_CASE("products are Eigen's to rounding") {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Matrix A = Matrix::Random(70, 90), B = Matrix::Random(90, 50);
  Matrix C(70, 50);
  MatrixProduct<double>().set({70, 50, 90}, {A.data(), 90}, {B.data(), 50}, C.data(), 50);
  CHECK((C - A * B).norm() < 1e-13 * C.norm());
}

TEST_CASE("a product without rows or columns leaves everything as it is") {
  std::vector<double> c{1.0, 2.0};
  const std::vector<double> a{3.0, 4.0}, b{5.0, 6.0};
  MatrixProduct<double>().set({0, 2, 1}, {a.data(), 1}, {b.data(), 2}, c.data(), 2);
  MatrixProduct<double>().set({2, 0, 1}, {a.data(), 1}, {b.data(), 2}, c.data(), 2);
  CHECK(c == std::vector<double>{1.0, 2.0});
}

}  // namespace matrix_product_test
