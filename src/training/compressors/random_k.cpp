#include "training/compressors/random_k.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace simgrad::training {

using values::Tensor;
using Inputs = std::span<const std::span<const double>>;

namespace {

constexpr double random_k_seconds_per_place = 60e-9;
constexpr double random_k_seconds_per_number = 2e-9;

/// A tensor, shared by all ranks, of k of the places 0 .. n-1 in ascending order.
Tensor places(std::int64_t k, std::int64_t n, const Occasion& occasion) {
  std::vector<std::uint64_t> key = words(occasion.shared_draws);
  key.push_back(static_cast<std::uint64_t>(n));
  const values::Operation operation{
      .name = "places", .key = key, .seconds = random_k_seconds_per_place * static_cast<double>(k)};
  return occasion.dispatcher.dispatch(operation, k, {},
                                      [draws = occasion.shared_draws, n](Inputs, std::span<double> result) {
                                        if (static_cast<std::int64_t>(result.size()) == n)
                                          return std::iota(result.begin(), result.end(), 0.0);
                                        const base::Permutation shuffled(draws, static_cast<std::uint64_t>(n));
                                        if (static_cast<std::int64_t>(result.size()) * 32 < n) {
                                          for (std::size_t i = 0; i < result.size(); ++i)
                                            result[i] = static_cast<double>(shuffled(i));
                                          return std::sort(result.begin(), result.end());
                                        }
                                        std::vector<bool> taken(static_cast<std::size_t>(n));
                                        for (std::size_t i = 0; i < result.size(); ++i) taken[shuffled(i)] = true;
                                        auto next = result.begin();
                                        for (std::size_t i = 0; i < taken.size(); ++i)
                                          if (taken[i]) *next++ = static_cast<double>(i);
                                      });
}

Tensor gathered(const Tensor& x, const Tensor& at, const Occasion& occasion) {
  const Tensor inputs[] = {x, at};
  const values::Operation operation{.name = "gather_places",
                                    .seconds = random_k_seconds_per_number * static_cast<double>(at.size())};
  return occasion.dispatcher.dispatch(operation, at.size(), inputs, [](Inputs in, std::span<double> result) {
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = in[0][static_cast<std::size_t>(in[1][i])];
  });
}

/// A vector of n with scale * values at these places and zero elsewhere.
Tensor scattered(const Tensor& values, const Tensor& at, std::int64_t n, double scale, const Occasion& occasion) {
  const Tensor inputs[] = {values, at};
  const std::uint64_t key[] = {std::bit_cast<std::uint64_t>(scale)};
  const values::Operation operation{
      .name = "scatter_places", .key = key, .seconds = random_k_seconds_per_number * static_cast<double>(n)};
  return occasion.dispatcher.dispatch(operation, n, inputs, [scale](Inputs in, std::span<double> result) {
    std::fill(result.begin(), result.end(), 0.0);
    for (std::size_t i = 0; i < in[0].size(); ++i) result[static_cast<std::size_t>(in[1][i])] = scale * in[0][i];
  });
}

}  // namespace

void RandomK::describe(base::Describer& d) {
  kept.describe(d);
  d.flag("unbiased", unbiased, "whether the numbers sent are multiplied by d/k, which makes the code unbiased");
  describe_error_feedback(d);
  describe_passes(d);
  if (error_feedback && unbiased)
    d.refuse("error_feedback",
             "error_feedback sends the numbers left out later, but unbiased = true already makes up for them by a "
             "factor d/k; set unbiased = false, or leave error_feedback out");
}

Tensor RandomK::encode(const Tensor& x, const Occasion& occasion, CompressorMemory& memory) const {
  const Summed alone = summed(x, occasion, memory, [](const Tensor& values) { return values; });
  return values::encoded(alone.own, 8 * kept.of(x.size(), occasion));
}

Compressor::Summed RandomK::summed(const Tensor& x, const Occasion& occasion, CompressorMemory&,
                                   const SumOverRanks& all) const {
  const std::int64_t n = x.size();
  if (n == 0) return {x, x};
  const std::int64_t k = kept.of(n, occasion);
  const double scale = unbiased ? static_cast<double>(n) / static_cast<double>(k) : 1.0;
  const Tensor at = places(k, n, occasion);
  const Tensor values = gathered(x, at, occasion);
  return {scattered(all(values), at, n, scale, occasion), scattered(values, at, n, scale, occasion)};
}

}  // namespace simgrad::training
