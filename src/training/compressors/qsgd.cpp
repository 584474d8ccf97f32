#include "training/compressors/qsgd.h"

#include <array>
#include <bit>
#include <cmath>

#include "training/compressors/levels.h"

namespace simgrad::training {

namespace {

double norm_by_four_sums(std::span<const double> numbers) {
  std::array<double, 4> sums{};
  for (std::size_t i = 0; i < numbers.size(); ++i) sums[i % 4] += numbers[i] * numbers[i];
  return std::sqrt((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

}  // namespace

void Qsgd::describe(base::Describer& d) {
  d.integer("levels", levels, "s: the levels above zero; 7 take four bits a number", base::Bounds::between(1, 1 << 20));
  d.integer("bucket", bucket, "the count of numbers that share a norm", base::Bounds::between(1, 1e9));
  describe_passes(d);
}

values::Tensor Qsgd::encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory&) const {
  const auto s = static_cast<double>(levels);
  const auto unit = [s](std::span<const double> numbers) { return float32_above(norm_by_four_sums(numbers)) / s; };
  const std::int64_t bits = std::bit_width(static_cast<std::uint64_t>(2 * levels));  // 2 s + 1 values
  const std::uint64_t key[] = {static_cast<std::uint64_t>(levels)};
  return in_levels("qsgd", key, x, bucket, unit, occasion.draws,
                   (x.size() * bits + 7) / 8 + 4 * buckets(x.size(), bucket), occasion.dispatcher);
}

}  // namespace simgrad::training
