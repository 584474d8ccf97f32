#include "data/standardize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "base/in_parallel.h"
#include "base/vectors.h"
#include "data/blocks_of_rows.h"

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
SIMGRAD_AVX2_IF_THERE bool scale(std::size_t n, const double* x, const double* mean, const double* deviation,
                                 double* __restrict scaled) {
  std::uint64_t beyond = 0;
  for (std::size_t j = 0; j < n; ++j) {
    scaled[j] = (x[j] - mean[j]) / deviation[j];
    beyond |= std::abs(scaled[j]) <= std::numeric_limits<double>::max() ? 0U : 1U;
  }
  return beyond == 0;
}

/// Calls body(first, count) for stretches that hold each column once, for each of several threads one where that pays.
template <class Body>
void in_stretches_of_columns(int threads, std::size_t numbers, std::size_t columns, Body body) {
  constexpr std::size_t few_numbers = 1 << 16;
  const auto parts = numbers < few_numbers || threads < 1 ? 1 : static_cast<std::size_t>(threads);
  const std::size_t stretch = (columns + parts - 1) / parts;
  base::in_parallel(threads, (columns + stretch - 1) / stretch,
                    [&](std::size_t k) { body(k * stretch, std::min(stretch, columns - k * stretch)); });
}

}  // namespace

Scaling scaling_of(std::span<const double> values, std::int64_t columns, std::int64_t stride,
                   const std::vector<std::string>& names, int threads) {
  const auto width = static_cast<std::size_t>(columns);
  const auto step = static_cast<std::size_t>(stride);
  base::check(!values.empty() && width <= step && values.size() % step == 0, "a matrix to standardise");
  const double rows = static_cast<double>(values.size() / step);

  Sums sums(width);
  std::vector<std::uint64_t> varies(width);
  in_stretches_of_columns(threads, values.size(), width, [&](std::size_t j, std::size_t n) {
    for (std::size_t at = j; at < values.size(); at += step)
      add_row(n, &values[at], &values[j], &sums.sum[j], &sums.lost[j], &varies[j]);
  });
  Scaling scaling{.means = {}, .deviations = {}, .names = names};
  // A constant column's mean is its value, exactly: n times a number over n need not be.
  for (std::size_t j = 0; j < width; ++j) scaling.means.push_back(varies[j] ? sums.value(j) / rows : values[j]);

  Sums squares(width);
  in_stretches_of_columns(threads, values.size(), width, [&](std::size_t j, std::size_t n) {
    for (std::size_t at = j; at < values.size(); at += step)
      add_squares(n, &values[at], &scaling.means[j], &squares.sum[j], &squares.lost[j]);
  });
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

void rescale(std::span<double> values, std::int64_t stride, const Scaling& scaling, int threads) {
  const auto step = static_cast<std::size_t>(stride);
  const std::size_t width = scaling.means.size();
  constexpr std::size_t at_once = 128;           // columns
  std::atomic<std::size_t> odd = values.size();  // the first place behind which not all can be scaled; they stay
  in_blocks_of_rows(threads, values.size() / step, step, [&](std::size_t first, std::size_t end) {
    std::array<double, at_once> scaled;
    for (std::size_t place = first * step; place < end * step; place += step)
      for (std::size_t j = 0; j < width; j += at_once) {
        const std::size_t n = std::min(at_once, width - j);
        double* const x = &values[place + j];
        if (!scale(n, x, &scaling.means[j], &scaling.deviations[j], scaled.data())) {
          for (std::size_t other = odd; place + j < other && !odd.compare_exchange_weak(other, place + j);) continue;
          return;
        }
        std::copy_n(scaled.data(), n, x);
      }
  });
  if (odd == values.size()) return;
  for (std::size_t at = odd;; ++at) {
    const std::size_t j = at % step;
    if (!std::isfinite((values[at] - scaling.means[j]) / scaling.deviations[j]))
      throw base::ScenarioError(fmt::format(
          "column \"{}\" cannot be standardised: the value {} is too far from the training set's mean {} and "
          "deviation {} for double precision; rescale it, or set standardize = false",
          scaling.names.at(j), values[at], scaling.means[j], scaling.deviations[j]));
  }
}

}  // namespace simgrad::data
