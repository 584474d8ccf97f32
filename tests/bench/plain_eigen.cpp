// The gradients of full_batch.toml in plain Eigen, with data of their own: what a program without a simulator needs.
//
// plain_eigen [steps]        Compiled for the processor that it is built on, as such a program would be; run by
// whole_bench. It makes the data that simgrad's source "logistic" makes, scales them, and takes steps of 16 parts each.
#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/random.h"

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using simgrad::base::Purpose;
using simgrad::base::Stream;

constexpr Eigen::Index n = 20000, d = 784, parts = 16;

double sigmoid(double s) { return 1.0 / (1.0 + std::exp(-s)); }

void make_rows(Matrix& X, Vector& y) {
  Stream truth({.seed = 1, .purpose = Purpose::data, .rank = 1});
  Vector w(d);
  for (double& weight : w) weight = truth.normal();
  w *= 3.0 / w.norm();
  for (Eigen::Index i = 0; i < n; ++i) {
    Stream row({.seed = 1, .purpose = Purpose::data, .step = static_cast<std::uint64_t>(i)});
    const double label_draw = row.uniform();
    (void)row.uniform();
    for (Eigen::Index j = 0; j < d; ++j) X(i, j) = row.normal();
    y[i] = label_draw < sigmoid(X.row(i).dot(w)) ? 1.0 : 0.0;
  }
}

void standardise(Matrix& X) {
  const Eigen::RowVectorXd mean = X.colwise().mean();
  X.rowwise() -= mean;
  const Eigen::RowVectorXd deviation = (X.colwise().squaredNorm() / static_cast<double>(n)).cwiseSqrt();
  X.array().rowwise() /= deviation.array();
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 100;
  Matrix X(n, d);
  Vector y(n), w = Vector::Zero(d), g(d);
  make_rows(X, y);
  standardise(X);
  for (int step = 0; step < steps; ++step) {
    g.setZero();
    for (Eigen::Index r = 0; r < parts; ++r) {
      const auto rows = X.middleRows(r * n / parts, n / parts);
      const Vector residuals = (rows * w).unaryExpr(&sigmoid) - y.segment(r * n / parts, n / parts);
      g.noalias() += rows.transpose() * residuals;
    }
    w -= 0.1 / static_cast<double>(n) * g;
  }
  std::printf("|w| = %.6f\n", w.norm());
}
