#include "training/compressors/gram_schmidt.h"

#include <cmath>

namespace simgrad::training {

namespace {

/// Columns of a row-major matrix.
struct Columns {
  std::span<double> a;
  std::size_t rows;
  std::size_t count;

  double& at(std::size_t row, std::size_t column) const { return a[row * count + column]; }
  double product(std::size_t i, std::size_t j) const {
    double sum = 0.0;
    for (std::size_t row = 0; row < rows; ++row) sum += at(row, i) * at(row, j);
    return sum;
  }
  /// Orthogonalises a column to those before it. Returns the norm that is left.
  double without_earlier(std::size_t column) const {
    for (int twice = 0; twice < 2; ++twice)
      for (std::size_t earlier = 0; earlier < column; ++earlier) {
        const double along = product(earlier, column);
        for (std::size_t row = 0; row < rows; ++row) at(row, column) -= along * at(row, earlier);
      }
    return std::sqrt(product(column, column));
  }
};

constexpr double rounding_noise = 1e-12;

}  // namespace

void orthonormalize(std::span<double> a, std::size_t rows, std::size_t columns) {
  const Columns all{a, rows, columns};
  for (std::size_t column = 0; column < columns; ++column) {
    const double before = std::sqrt(all.product(column, column));
    double left = all.without_earlier(column);
    bool depends = !(left > rounding_noise * before);
    // Fewer than `rows` columns cannot span everything: at least one unit vector has 1/rows of its square outside of
    // their span.
    const double enough = std::sqrt(0.9 / static_cast<double>(rows));
    for (std::size_t unit = 0; depends && unit < rows; ++unit) {
      for (std::size_t row = 0; row < rows; ++row) all.at(row, column) = row == unit ? 1.0 : 0.0;
      left = all.without_earlier(column);
      depends = left < enough;
    }
    for (std::size_t row = 0; row < rows; ++row) all.at(row, column) /= left;
  }
}

}  // namespace simgrad::training
