#include "data/standardize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "base/vectors.h"

namespace simgrad::data {

namespace {

/// Sums of columns that also add up their rounding errors, each by D. E. Knuth's exact addition.
/// Source: A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54, 1974.
struct Sums {
  explicit Sums(std::size_t columns) : sum(columns), lost(columns) {}
  double value(std::size_t j) const { return sum[j] + lost[j]; }

  std::vector<double> sum;
  std::vector<double> lost;
};

[[gnu::always_inline]] inline void add(double x, double& sum, double& lost) {
  const double next = sum + x;
  const double taken = next - sum;
  lost += (sum - (next - taken)) + (x - taken);
  sum = next;
}

// Each loop runs along a row, whose columns do not depend on each other.

/// Adds a row to its columns' sums, and notes which columns differ from their first number.
SIMGRAD_AVX2_IF_THERE void add_row(std::size_t n, const double* x, const double* first, double* __restrict sum,
                                   double* __restrict lost, std::uint64_t* __restrict varies) {
  for (std::size_t j = 0; j < n; ++j) {
    add(x[j], sum[j], lost[j]);
    varies[j] |= x[j] != first[j] ? 1U : 0U;
  }
}

SIMGRAD_AVX2_IF_THERE void add_squares(std::size_t n, const double* x, const double* mean, double* __restrict sum,
                                       double* __restrict lost) {
  for (std::size_t j = 0; j < n; ++j) {
    const double away = x[j] - mean[j];
    add(away * away, sum[j], lost[j]);
  }
}

/// Returns whether all results are finite.
SIMGRAD_AVX2_IF_THERE bool scale_row(std::size_t n, const double* x, const double* mean, const double* deviation,
                                     double* __restrict scaled) {
  std::uint64_t beyond = 0;
  for (std::size_t j = 0; j < n; ++j) {
    scaled[j] = (x[j] - mean[j]) / deviation[j];
    beyond |= std::abs(scaled[j]) <= std::numeric_limits<double>::max() ? 0U : 1U;
  }
  return beyond == 0;
}

}  // namespace

Scaling scaling_of(std::span<const double> values, std::int64_t columns, std::int64_t stride,
                   const std::vector<std::string>& names) {
  const auto width = static_cast<std::size_t>(columns);
  const auto step = static_cast<std::size_t>(stride);
  base::check(!values.empty() && width <= step && values.size() % step == 0, "a matrix to standardise");
  const double rows = static_cast<double>(values.size() / step);

  Sums sums(width);
  std::vector<std::uint64_t> varies(width);
  for (std::size_t at = 0; at < values.size(); at += step)
    add_row(width, &values[at], &values[0], sums.sum.data(), sums.lost.data(), varies.data());
  Scaling scaling{.means = {}, .deviations = {}, .names = names};
  // A constant column's mean is its value, exactly: n times a number over n need not be.
  for (std::size_t j = 0; j < width; ++j) scaling.means.push_back(varies[j] ? sums.value(j) / rows : values[j]);

  Sums squares(width);
  for (std::size_t at = 0; at < values.size(); at += step)
    add_squares(width, &values[at], scaling.means.data(), squares.sum.data(), squares.lost.data());
  for (std::size_t j = 0; j < width; ++j) {
    const double deviation = varies[j] ? std::sqrt(squares.value(j) / rows) : 1.0;
    if (!std::isfinite(deviation) || deviation == 0.0)
      throw base::ScenarioError(fmt::format(
          "column \"{}\" cannot be standardised: its values (such as {}) are too large, or too close together, for "
          "double precision; rescale it, or set standardize = false",
          names[j], values[j]));
    scaling.deviations.push_back(deviation);
  }
  return scaling;
}

void rescale(std::span<double> values, std::int64_t stride, const Scaling& scaling) {
  const auto step = static_cast<std::size_t>(stride);
  const std::size_t width = scaling.means.size();
  std::vector<double> scaled(width);
  for (std::size_t at = 0; at < values.size(); at += step) {
    const auto row = values.subspan(at, width);
    if (!scale_row(width, row.data(), scaling.means.data(), scaling.deviations.data(), scaled.data())) {
      const auto odd = static_cast<std::size_t>(
          std::ranges::find_if_not(scaled, [](double x) { return std::isfinite(x); }) - scaled.begin());
      throw base::ScenarioError(fmt::format(
          "column \"{}\" cannot be standardised: the value {} is too far from the training set's mean {} and "
          "deviation {} for double precision; rescale it, or set standardize = false",
          scaling.names.at(odd), row[odd], scaling.means[odd], scaling.deviations[odd]));
    }
    std::ranges::copy(scaled, row.begin());
  }
}

}  // namespace simgrad::data
