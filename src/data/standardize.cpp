#include "data/standardize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.h"

namespace simgrad::data {

namespace {

/// A sum that also adds up its rounding errors.
/// Source: A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54, 1974.
class Sum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0.0;
  double lost_ = 0.0;
};

}  // namespace

Scaling scaling_of(const std::vector<double>& values, std::int64_t columns, std::int64_t stride,
                   const std::vector<std::string>& names) {
  const auto width = static_cast<std::size_t>(columns);
  const auto step = static_cast<std::size_t>(stride);
  base::check(!values.empty() && width <= step && values.size() % step == 0, "a matrix to standardise");
  const double rows = static_cast<double>(values.size() / step);

  std::vector<Sum> sums(width);
  std::vector<bool> varies(width);
  for (std::size_t at = 0; at < values.size(); at += step)
    for (std::size_t j = 0; j < width; ++j) {
      sums[j].add(values[at + j]);
      if (values[at + j] != values[j]) varies[j] = true;
    }
  Scaling scaling{.means = {}, .deviations = {}, .names = names};
  // A constant column's mean is its value, exactly: n times a number over n need not be.
  for (std::size_t j = 0; j < width; ++j) scaling.means.push_back(varies[j] ? sums[j].value() / rows : values[j]);

  std::vector<Sum> squares(width);
  for (std::size_t at = 0; at < values.size(); at += step)
    for (std::size_t j = 0; j < width; ++j) {
      const double away = values[at + j] - scaling.means[j];
      squares[j].add(away * away);
    }
  for (std::size_t j = 0; j < width; ++j) {
    const double deviation = varies[j] ? std::sqrt(squares[j].value() / rows) : 1.0;
    if (!std::isfinite(deviation) || deviation == 0.0)
      throw base::ScenarioError(fmt::format(
          "column \"{}\" cannot be standardised: its values (such as {}) are too large, or too close together, for "
          "double precision; rescale it, or set standardize = false",
          names[j], values[j]));
    scaling.deviations.push_back(deviation);
  }
  return scaling;
}

void rescale(std::vector<double>& values, std::int64_t stride, const Scaling& scaling) {
  const auto step = static_cast<std::size_t>(stride);
  for (std::size_t at = 0; at < values.size(); at += step)
    for (std::size_t j = 0; j < scaling.means.size(); ++j) {
      const double scaled = (values[at + j] - scaling.means[j]) / scaling.deviations[j];
      if (!std::isfinite(scaled))
        throw base::ScenarioError(fmt::format(
            "column \"{}\" cannot be standardised: the value {} is too far from the training set's mean {} and "
            "deviation {} for double precision; rescale it, or set standardize = false",
            scaling.names.at(j), values[at + j], scaling.means[j], scaling.deviations[j]));
      values[at + j] = scaled;
    }
}

}  // namespace simgrad::data
