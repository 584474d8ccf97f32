#include "outputs/paired_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "outputs/statistics.h"

namespace simgrad::outputs {

double student_probability(double t, int degrees_of_freedom) {
  const int n = degrees_of_freedom;
  const double angle = std::atan(t / std::sqrt(static_cast<double>(n)));
  const double cosine = std::cos(angle);
  const bool odd = n % 2 == 1;
  double term = odd ? cosine : 1.0;
  double sum = n == 1 ? 0.0 : term;
  for (int k = odd ? 3 : 2; k <= n - 2; k += 2) {
    term *= cosine * cosine * (k - 1) / k;
    sum += term;
  }
  return odd ? 2.0 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

double paired_t_test(std::span<const double> differences) {
  if (differences.size() < 2) return nan;
  const Interval within_one = interval(differences, 1.0);
  const double mean = within_one.mean, standard_error = within_one.high - mean;
  if (!std::isfinite(mean) || !std::isfinite(standard_error)) return nan;
  if (standard_error == 0.0) return nan;
  const auto degrees_of_freedom = static_cast<int>(differences.size()) - 1;
  return std::clamp(1.0 - student_probability(std::abs(mean) / standard_error, degrees_of_freedom), 0.0, 1.0);
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < p_values.size(); ++k)
    if (!std::isnan(p_values[k])) places.push_back(k);
  std::ranges::stable_sort(places, {}, [&](std::size_t k) { return p_values[k]; });
  std::vector<double> corrected(p_values.begin(), p_values.end());
  double before = 0.0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto left = static_cast<double>(places.size() - k);
    before = std::min(1.0, std::max(before, left * p_values[places[k]]));
    corrected[places[k]] = before;
  }
  return corrected;
}

}  // namespace simgrad::outputs
