#include "strategies/reductions/order_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/errors.h"

namespace simgrad::strategies {

namespace {

using Inputs = std::span<const std::span<const double>>;

/// A kernel that makes each number of the result of the inputs' numbers at its place, among which not-a-number counts
/// as infinite.  reduce(numbers): may reorder them.
template <class Function>
values::Kernel number_by_number(Function reduce) {
  return [reduce](Inputs in, std::span<double> out) {
    std::vector<double> numbers(in.size());
    for (std::size_t j = 0; j < out.size(); ++j) {
      for (std::size_t i = 0; i < in.size(); ++i)
        numbers[i] = std::isnan(in[i][j]) ? std::numeric_limits<double>::infinity() : in[i][j];
      out[j] = reduce(std::span<double>(numbers));
    }
  };
}

double median_of(std::span<double> numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::ranges::nth_element(numbers, middle);
  if (numbers.size() % 2 == 1) return *middle;
  return 0.5 * *middle + 0.5 * *std::max_element(numbers.begin(), middle);
}

/// The numbers left out at either end. The share of a whole number of workers is that number, whatever its last digit.
std::int64_t left_out(double trim, std::int64_t gradients) {
  return static_cast<std::int64_t>(std::floor(trim * static_cast<double>(gradients) + 1e-9));
}

double trimmed_mean_of(double trim, std::span<double> numbers) {
  const std::int64_t k = left_out(trim, std::ssize(numbers));
  const auto first = numbers.begin() + k, end = numbers.end() - k;
  if (k > 0) {
    std::nth_element(numbers.begin(), first, numbers.end());
    std::nth_element(first, end - 1, numbers.end());
  }
  return std::accumulate(first, end, 0.0) / static_cast<double>(end - first);
}

/// Comparisons of a selection, for each number that it selects from.
constexpr double selecting = 2.0 * (1.0 + std::numbers::ln2);

}  // namespace

double Median::flops(std::int64_t gradients, std::int64_t n) const {
  return selecting * Reduction::flops(gradients, n);
}
double TrimmedMean::flops(std::int64_t gradients, std::int64_t n) const {
  const std::int64_t k = left_out(trim, gradients);
  return (k > 0 ? 2.0 * selecting * Reduction::flops(gradients, n) : 0.0) + Reduction::flops(gradients - 2 * k, n);
}

values::Kernel MeanByRows::kernel() const { throw base::InvariantError("parts that have their weights are added"); }
values::Kernel SumOfMeans::kernel() const {
  return number_by_number(
      [](std::span<double> numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); });
}
values::Kernel Minimum::kernel() const {
  return number_by_number([](std::span<double> numbers) { return std::ranges::min(numbers); });
}
values::Kernel Maximum::kernel() const {
  return number_by_number([](std::span<double> numbers) { return std::ranges::max(numbers); });
}
values::Kernel Median::kernel() const { return number_by_number(median_of); }
values::Kernel TrimmedMean::kernel() const {
  return number_by_number([trim = trim](std::span<double> numbers) { return trimmed_mean_of(trim, numbers); });
}

void TrimmedMean::describe(base::Describer& d) {
  d.number("trim", trim,
           "the share of the workers whose numbers are left out at either end, rounded down to whole workers",
           base::Bounds::between(0, 0.5));
  if (trim == 0.5) d.refuse("trim", "trim = 0.5 at either end leaves nothing; expected less, or reduce = \"median\"");
}

std::vector<std::uint64_t> TrimmedMean::key() const { return {std::bit_cast<std::uint64_t>(trim)}; }

std::string TrimmedMean::warning(std::int64_t gradients) const {
  if (trim == 0.0 || left_out(trim, gradients) > 0) return {};
  return fmt::format("reduce: trim = {} of {} gradients leaves none of them out, so that the trimmed mean is the mean",
                     trim, gradients);
}

}  // namespace simgrad::strategies
