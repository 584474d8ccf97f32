#include "outputs/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <vector>

#include "outputs/paired_test.h"

namespace simgrad::outputs {

double student_t(int degrees_of_freedom, double confidence) {
  double low = 1.9;  // at 95 %: 1.96 for the normal distribution, 12.706 for one degree of freedom
  double high = 12.8;
  while (low > 1e-300 && student_probability(low, degrees_of_freedom) >= confidence) low /= 2.0;
  while (high < 1e300 && student_probability(high, degrees_of_freedom) < confidence) high *= 2.0;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (student_probability(middle, degrees_of_freedom) < confidence ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double student_t95(int degrees_of_freedom) {
  // Thousands of rows have as many seeds, and a value takes a hundred sums.
  static std::map<int, double> known;
  const auto [at, is_new] = known.try_emplace(degrees_of_freedom);
  if (is_new) at->second = student_t(degrees_of_freedom, 0.95);
  return at->second;
}

double sign_test(int wins, int trials) {
  // The terms C(n, k) / 2^n by their logarithms: 2^n is beyond the range of doubles for n > 1023.
  double sum = 0.0;
  for (int k = wins; k <= trials; ++k)
    sum += std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) -
                    trials * std::numbers::ln2);
  return std::min(sum, 1.0);
}

Interval interval(std::span<const double> numbers, double t) {
  const auto n = static_cast<double>(numbers.size());
  // The sum is of differences from the first number: the mean of equal numbers is that number, to the last bit.
  double excess = 0.0;
  for (const double x : numbers) excess += x - numbers.front();
  const double mean = numbers.front() + excess / n;
  if (!std::isfinite(mean)) return {nan, nan, nan};
  if (numbers.size() < 2) return {mean, nan, nan};
  double squares = 0.0;
  for (const double x : numbers) squares += (x - mean) * (x - mean);
  const double half = t * std::sqrt(squares / (n - 1.0) / n);
  return {mean, mean - half, mean + half};
}

Interval interval(std::span<const double> numbers) {
  return interval(numbers, numbers.size() < 2 ? nan : student_t95(static_cast<int>(numbers.size()) - 1));
}

Interval ratio_of_means(std::span<const double> numerators, std::span<const double> denominators) {
  const double above = interval(numerators).mean, below = interval(denominators).mean;
  const double ratio = above / below;
  if (!std::isfinite(ratio)) return {nan, nan, nan};
  if (numerators.size() < 2) return {ratio, nan, nan};
  std::vector<double> residuals;
  for (std::size_t k = 0; k < numerators.size(); ++k) residuals.push_back(numerators[k] - ratio * denominators[k]);
  const Interval of_residuals = interval(residuals);
  const double half = (of_residuals.high - of_residuals.mean) / std::abs(below);
  return {ratio, ratio - half, ratio + half};
}

Interval share_of_means(std::span<const double> numerators, std::span<const double> denominators) {
  const Interval of_ratio = ratio_of_means(numerators, denominators);
  const double share = of_ratio.mean;
  // A share of 0 or 1 is that of every pair.
  if (!(share > 0.0) || !(share < 1.0)) return of_ratio;
  const double logit = std::log(share / (1.0 - share));
  const double half = (of_ratio.high - share) / (share * (1.0 - share));
  const auto back = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
  return {share, back(logit - half), back(logit + half)};
}

double amdahl_serial_share(std::span<const double> workers, std::span<const double> speedups) {
  double above = 0.0;
  double below = 0.0;
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (!(speedups[i] > 0.0) || !std::isfinite(speedups[i])) continue;
    const double parallel = 1.0 - 1.0 / workers[i];
    above += parallel * (1.0 / speedups[i] - 1.0 / workers[i]);
    below += parallel * parallel;
    smallest = std::min(smallest, workers[i]);
    largest = std::max(largest, workers[i]);
  }
  return smallest < largest ? std::clamp(above / below, 0.0, 1.0) : nan;
}

double amdahl_speedup(double serial_share, double workers) {
  return 1.0 / (serial_share + (1.0 - serial_share) / workers);
}

}  // namespace simgrad::outputs
