#include "strategies/gossip/mixing/spectrum.h"

#include <Eigen/Eigenvalues>
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

/// Found by powers of W^2, whose eigenvalues have no signs. Nothing if x is no eigenvector when the rounds are over:
/// W^2 has an eigenvalue as near to x^T W^2 x as W^2 x is to that multiple of x (x of length 1).
std::optional<double> second_by_iteration(const MixingMatrix& W) {
  constexpr int fewest_rounds = 50;
  const int most_rounds = 20'000'000 / std::max(1000, W.size());
  std::vector<double> x(static_cast<std::size_t>(W.size()));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::cos(1.0 + static_cast<double>(i) + 0.01 * static_cast<double>(i * i % 1009));
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

std::vector<std::complex<double>> values_of(const Eigen::MatrixXd& W) {
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(W, false);
  const auto found = solver.eigenvalues();
  return {found.begin(), found.end()};
}

Spectrum of_values(std::vector<std::complex<double>> values) {
  // One eigenvalue 1 is the mean's.
  values.erase(
      std::ranges::min_element(values, {}, [](const std::complex<double>& value) { return std::abs(value - 1.0); }));
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
    values = values_of(dense(W));
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

std::optional<double> spectral_gap_of_turns(std::span<const MixingMatrix> turns) {
  const int P = turns.front().size();
  if (P == 1) return 1.0;
  if (P > most_dense) return {};
  Eigen::MatrixXd product = Eigen::MatrixXd::Identity(P, P);
  for (const MixingMatrix& W : turns) product = dense(W) * product;
  const double second = of_values(values_of(product)).second;
  constexpr double rounding_noise = 1e-12;  // whose n-th root would pass for disagreement
  return second < rounding_noise ? 1.0 : std::max(0.0, 1.0 - std::pow(second, 1.0 / static_cast<double>(turns.size())));
}

std::optional<double> spectral_gap_of_pairs(const Adjacency& edges) {
  const int P = static_cast<int>(edges.size());
  if (P == 1) return 1.0;
  if (P > most_dense) return {};
  Eigen::MatrixXd expected = Eigen::MatrixXd::Identity(P, P);
  for (int i = 0; i < P; ++i) {
    const std::vector<int>& own = edges[static_cast<std::size_t>(i)];
    for (const int j : own) {
      const double half = 0.5 / (static_cast<double>(P) * static_cast<double>(own.size()));
      expected(i, i) -= half;
      expected(j, j) -= half;
      expected(i, j) += half;
      expected(j, i) += half;
    }
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(expected, Eigen::EigenvaluesOnly);
  const double second = std::max(0.0, solver.eigenvalues()[P - 2]);  // ascending; the last is the mean's
  return std::max(0.0, 1.0 - std::pow(second, P / 2.0));
}

}  // namespace simgrad::strategies
