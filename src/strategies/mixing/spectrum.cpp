#include "strategies/mixing/spectrum.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

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

/// |W^2 x| / |W x|, over and over: of a symmetric matrix it rises to the second modulus, whatever the signs.
double second_by_iteration(const MixingMatrix& W) {
  constexpr int most_rounds = 20000;
  std::vector<double> x(static_cast<std::size_t>(W.size()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(1.0 + static_cast<double>(i) + 0.01 * static_cast<double>(i * i % 1009));
  double found = 0.0;
  for (int round = 0; round < most_rounds; ++round) {
    std::vector<double> y = mixed(W, mixed(W, x));
    const double before = length(x), after = length(y);
    if (!(after > 0.0)) return 0.0;
    const double next = std::sqrt(after / before);
    if (round > 50 && next - found < 1e-12 * next) return next;
    found = next;
    for (double& each : y) each /= after;
    x = std::move(y);
  }
  return found;
}

Spectrum of_values(std::vector<std::complex<double>> values) {
  // One eigenvalue 1 is the mean's.
  values.erase(std::ranges::min_element(values, {}, [](const std::complex<double>& value) { return std::abs(value - 1.0); }));
  Spectrum found{.second = 0.0, .least = 1.0};
  for (const auto& value : values) {
    found.second = std::max(found.second, std::abs(value));
    found.least = std::min(found.least, value.real());
  }
  return found;
}

}  // namespace

std::optional<Spectrum> spectrum(const MixingMatrix& W) {
  if (W.size() == 1) return Spectrum{.second = 0.0, .least = 1.0};
  const bool symmetric = W.symmetric();
  if (W.size() > most_dense) {
    if (!symmetric) return std::nullopt;
    const double second = second_by_iteration(W);
    return Spectrum{.second = second, .least = -second};
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
