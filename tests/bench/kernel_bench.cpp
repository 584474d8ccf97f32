/// Time of the models' gradients over that of Eigen's two products, X w and then X^T r, on a data set larger than the
/// caches (20000 x 784, 125 MB). Both run in alternation in one process; the median of the rounds' ratios is printed.
///
///     kernel_bench [rounds]
///
/// Ends with 1 if logistic_regression takes more than 0.75 of Eigen's time.
#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "bench/measure.h"
#include "models/model.h"

namespace {

namespace bench = simgrad::bench;
using simgrad::models::Problem;
using simgrad::models::Samples;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<const Matrix>;
using Vector = Eigen::VectorXd;

constexpr std::int64_t n = 20000;
constexpr std::int64_t d = 784;
constexpr int k = 10;
constexpr double logistic_limit = 0.75;

double wall_s(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Prints one line; returns the median of kernel time over Eigen time.
double compare(std::string_view name, int rounds, const std::function<void()>& kernel,
               const std::function<void()>& eigen) {
  kernel();  // both once unmeasured: the first touch of pages and the clock of the processor
  eigen();
  std::vector<double> kernel_s, eigen_s, ratios;
  for (int round = 0; round < rounds; ++round) {
    kernel_s.push_back(wall_s(kernel));
    eigen_s.push_back(wall_s(eigen));
    ratios.push_back(kernel_s.back() / eigen_s.back());
  }
  std::printf("%-20.*s kernel %7.2f ms, Eigen's two products %7.2f ms, ratio %.3f\n", static_cast<int>(name.size()),
              name.data(), 1e3 * bench::median(kernel_s), 1e3 * bench::median(eigen_s), bench::median(ratios));
  return bench::median(ratios);
}

Vector sigmoid(const Vector& s) {
  return s.unaryExpr([](double x) { return 1.0 / (1.0 + std::exp(-x)); });
}

Matrix softmax(Matrix S) {
  for (Eigen::Index i = 0; i < S.rows(); ++i) {
    S.row(i) = (S.row(i).array() - S.row(i).maxCoeff()).exp().matrix();
    S.row(i) /= S.row(i).sum();
  }
  return S;
}

/// The kernel's gradient of a linear model against r = residuals(X w); g = X^T r.
double compare_linear(std::string_view kind, int rounds, const Vector& x, const Vector& y,
                      const std::function<Vector(const Vector&)>& prediction) {
  const auto model = simgrad::models::registry().find(kind)->make();
  const Samples rows{.features = x.data(), .targets = y.data(), .columns = d, .count = n};
  const Problem problem{.features = d, .classes = model->predicts() == simgrad::models::Predicts::classes ? 2 : 0};
  const MatrixView X(x.data(), n, d);
  const Vector w = Vector::Random(d) / static_cast<double>(d);
  Vector g(d), g_eigen(d);
  const double ratio = compare(
      kind, rounds,
      [&] {
        model->gradient(problem, rows, {w.data(), d}, 1.0, 0.0, {g.data(), d});
      },
      [&] {
        const Vector r = prediction(X * w) - y;
        g_eigen.noalias() = X.transpose() * r;
      });
  if (!g.isApprox(g_eigen, 1e-10)) std::printf("%s: the two gradients differ\n", kind.data()), std::exit(1);
  return ratio;
}

void compare_softmax(int rounds, const Vector& x, const Vector& y) {
  const auto model = simgrad::models::registry().find("softmax_regression")->make();
  const Samples rows{.features = x.data(), .targets = y.data(), .columns = d, .count = n};
  const MatrixView X(x.data(), n, d);
  const Eigen::MatrixXd W = Eigen::MatrixXd::Random(d, k) / static_cast<double>(d);
  Eigen::MatrixXd G(d, k), G_eigen(d, k);
  compare(
      "softmax_regression", rounds,
      [&] {
        model->gradient({.features = d, .classes = k}, rows, {W.data(), d * k}, 1.0, 0.0, {G.data(), d * k});
      },
      [&] {
        Matrix R = softmax(X * W);
        for (Eigen::Index i = 0; i < n; ++i) R(i, static_cast<Eigen::Index>(y[i])) -= 1.0;
        G_eigen.noalias() = X.transpose() * R;
      });
  if (!G.isApprox(G_eigen, 1e-10)) std::printf("softmax_regression: the two gradients differ\n"), std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const Vector x = Vector::Random(n * d);
  const auto class_numbers = [](int classes) {
    return Vector(Vector::NullaryExpr(n, [classes](Eigen::Index i) { return static_cast<double>(i * 7 % classes); }));
  };
  compare_linear("least_squares", rounds, x, Vector::Random(n), [](const Vector& s) { return s; });
  compare_softmax(rounds, x, class_numbers(k));
  return compare_linear("logistic_regression", rounds, x, class_numbers(2), sigmoid) <= logistic_limit ? 0 : 1;
}
