#include "training/compressors/top_k.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace simgrad::training {

namespace {

constexpr double top_k_seconds_per_number = 10e-9;

/// NaN counts as the largest, so that the receiver gets it.
double size_of(double x) { return std::isnan(x) ? std::numeric_limits<double>::infinity() : std::fabs(x); }

/// Among equal sizes the first ones are taken.
void keep_largest(std::span<const double> x, std::size_t k, std::span<double> result) {
  std::vector<double> sizes(x.size());
  std::transform(x.begin(), x.end(), sizes.begin(), size_of);
  const auto kth = sizes.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(sizes.begin(), kth, sizes.end(), std::greater<>());
  const double least = *kth;
  auto equal = static_cast<std::size_t>(std::count(sizes.begin(), kth + 1, least));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double size = size_of(x[i]);
    const bool taken = size > least || (size == least && equal > 0);
    if (size == least && equal > 0) --equal;
    result[i] = taken ? static_cast<double>(static_cast<float>(x[i])) : 0.0;
  }
}

}  // namespace

values::Tensor TopK::encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory&) const {
  const std::int64_t k = kept.of(x.size(), occasion);
  if (k == x.size()) return x;
  const std::uint64_t key[] = {static_cast<std::uint64_t>(k)};
  const values::Operation operation{
      .name = "top_k", .key = key, .seconds = top_k_seconds_per_number * static_cast<double>(x.size())};
  const auto kernel = [k](std::span<const std::span<const double>> in, std::span<double> result) {
    keep_largest(in.front(), static_cast<std::size_t>(k), result);
  };
  return values::encoded(occasion.dispatcher.dispatch(operation, x.size(), {&x, 1}, kernel), 8 * k);
}

}  // namespace simgrad::training
