#include "training/compressors/int8.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "training/compressors/levels.h"

namespace simgrad::training {

namespace {

constexpr std::array roundings{base::Choice{"stochastic", "up or down at random, unbiased"},
                               base::Choice{"nearest", "to the nearest multiple, without randomness"}};

double largest(std::span<const double> numbers) {
  std::array<double, 4> most{};
  for (std::size_t i = 0; i < numbers.size(); ++i) most[i % 4] = std::max(most[i % 4], std::fabs(numbers[i]));
  return *std::max_element(most.begin(), most.end());
}

}  // namespace

void Int8::describe(base::Describer& d) {
  d.choice("rounding", rounding, roundings, "the rounding of numbers between two multiples of the unit");
  d.integer("bucket", bucket, "the count of numbers that share a unit", base::Bounds::between(1, 1e9));
  describe_error_feedback(d);
  describe_passes(d);
}

values::Tensor Int8::encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory&) const {
  const auto unit = [](std::span<const double> numbers) { return float32_above(largest(numbers) / 127.0); };
  const bool by_chance = rounding == Rounding::stochastic;
  return in_levels("int8", {}, x, bucket, unit, by_chance ? std::optional(occasion.draws) : std::nullopt,
                   x.size() + 4 * buckets(x.size(), bucket), occasion.dispatcher);
}

double Int8::encode_flops(std::int64_t n, const Occasion&) const {
  return (rounding == Rounding::stochastic ? 4.0 : 3.0) * static_cast<double>(n);
}

}  // namespace simgrad::training
