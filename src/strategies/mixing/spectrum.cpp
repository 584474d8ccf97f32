#include "strategies/mixing/spectrum.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace simgrad::strategies {

namespace {

constexpr int most_dense = 600;

Eigen::MatrixXd dense(const MixingMatrix& W) {
  const int P = W.size();
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(P, P);
  for (int i = 0; i < P; ++i) {
    full(i, i) = W.entry(i, i);
    for (const int j : W.rows[static_cast<std::size_t>(i)].neighbours) full(i, j) = W.entry(i, j);
  }
  return full;
}

/// x <- W x without x's mean.
std::vector<double> mixed(const MixingMatrix& W, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  double sum = 0.0;
  for (int i = 0; i < W.size(); ++i) {
    const MixingRow& row = W.rows[static_cast<std::size_t>(i)];
    double total = W.entry(i, i) * x[static_cast<std::size_t>(i)];
    for (const int j : row.neighbours) total += W.entry(i, j) * x[static_cast<std::size_t>(j)];
    sum += y[static_cast<std::size_t>(i)] = total;
  }
  for (double& each : y) each -= sum / static_cast<double>(y.size());
  return y;
}

double length(const std::vector<double>& x) {
  double squares = 0.0;
  for (const double each : x) squares += each * each;
  return std::sqrt(squares);
}

/// By powers of W^2, whose eigenvalues have no signs. Nothing if x is no eigenvector yet when the rounds are over: W^2 has an
/// eigenvalue as near to x^T W^2 x as W^2 x is to that multiple of x (x of length 1).
std::optional<double> second_by_iteration(const MixingMatrix& W) {
  constexpr int fewest_rounds = 50;
  const int most_rounds = 20'000'000 / std::max(1000, W.size());
  std::vector<double> x(static_cast<std::size_t>(W.size()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(1.0 + static_cast<double>(i) + 0.01 * static_cast<double>(i * i % 1009));
  for (int round = 0; round < most_rounds; ++round) {
    const double before = length(x);
    if (!(before > 1e-150)) return 0.0;
    for (double& each : x) each /= before;
    std::vector<double> y = mixed(W, mixed(W, x));
    const double square = std::max(0.0, std::inner_product(x.begin(), x.end(), y.begin(), 0.0));
    if (round > fewest_rounds) {
      double squares = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i) squares += (y[i] - square * x[i]) * (y[i] - square * x[i]);
      const double second = std::sqrt(square);
      if (std::sqrt(squares) <= 1e-6 * square * (1.0 - std::min(second, 1.0)) + 1e-15) return second;
    }
    x = std::move(y);
  }
  return {};
}

Spectrum of_values(std::vector<std::complex<double>> values) {
  // One eigenvalue 1 is the mean's.
  values.erase(std::ranges::min_element(values, {}, [](const std::complex<double>& value) { return std::abs(value - 1.0); }));
  Spectrum found;
  double least = 1.0;
  for (const auto& value : values) {
    found.second = std::max(found.second, std::abs(value));
    least = std::min(least, value.real());
  }
  found.least = least;
  return found;
}

}  // namespace

std::optional<Spectrum> spectrum(const MixingMatrix& W) {
  if (W.size() == 1) return Spectrum{.second = 0.0, .least = 1.0};
  const bool symmetric = W.symmetric();
  if (W.size() > most_dense) {
    if (!symmetric) return std::nullopt;
    const auto second = second_by_iteration(W);
    return second ? std::optional(Spectrum{.second = *second, .least = {}}) : std::nullopt;
  }
  std::vector<std::complex<double>> values;
  if (symmetric) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense(W), Eigen::EigenvaluesOnly);
    for (const double value : solver.eigenvalues()) values.emplace_back(value);
  } else {
    const Eigen::EigenSolver<Eigen::MatrixXd> solver(dense(W), false);
    for (const auto& value : solver.eigenvalues()) values.push_back(value);
  }
  return of_values(std::move(values));
}

std::optional<double> spectral_gap(const MixingMatrix& W) {
  Adjacency edges;
  for (const MixingRow& row : W.rows) edges.push_back(row.targets);
  if (components(edges).size() > 1) return 0.0;
  const auto found = spectrum(W);
  return found ? std::optional(std::max(0.0, 1.0 - found->second)) : std::nullopt;
}

}  // namespace simgrad::strategies
