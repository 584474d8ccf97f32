#include "training/compressors/levels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/vectors.h"

namespace simgrad::training {

namespace {

constexpr double levels_seconds_per_number = 4e-9;

SIMGRAD_AVX2_IF_THERE
void round_to_levels(const double* x, const double* u, double a_unit, double unit, double* result, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i)
    result[i] = std::copysign(std::floor(std::fabs(x[i]) * a_unit + u[i]) * unit, x[i]);
}

/// Two random numbers of 32 bits from one draw.
void draw(base::Stream& stream, std::span<double> u) {
  for (std::size_t i = 0; i < u.size(); i += 2) {
    const std::uint64_t bits = stream.bits();
    u[i] = static_cast<double>(static_cast<std::uint32_t>(bits)) * 0x1p-32;
    if (i + 1 < u.size()) u[i + 1] = static_cast<double>(static_cast<std::uint32_t>(bits >> 32)) * 0x1p-32;
  }
}

}  // namespace

values::Tensor in_levels(std::string_view name, std::span<const std::uint64_t> key, const values::Tensor& x,
                         std::int64_t bucket, const Unit& unit, std::optional<base::Stream::Key> draws,
                         std::int64_t bytes, values::Dispatcher& dispatcher) {
  std::vector<std::uint64_t> all(key.begin(), key.end());
  all.push_back(static_cast<std::uint64_t>(bucket));
  if (draws)
    for (const std::uint64_t word : words(*draws)) all.push_back(word);
  const auto kernel = [bucket = static_cast<std::size_t>(bucket), unit, draws](
                          std::span<const std::span<const double>> in, std::span<double> result) {
    const std::span<const double> numbers = in.front();
    std::vector<double> u(std::min(bucket, numbers.size()), 0.5);
    std::optional<base::Stream> stream;
    if (draws) stream.emplace(*draws);
    for (std::size_t first = 0; first < numbers.size(); first += bucket) {
      const std::size_t count = std::min(bucket, numbers.size() - first);
      if (stream) draw(*stream, std::span(u).first(count));
      const double one = unit(numbers.subspan(first, count));
      const double a_unit = one > 0.0 ? 1.0 / one : 0.0;
      round_to_levels(numbers.data() + first, u.data(), a_unit, one, result.data() + first, count);
    }
  };
  const values::Operation operation{
      .name = name, .key = all, .seconds = levels_seconds_per_number * static_cast<double>(x.size()), .overwrites = 1};
  return values::encoded(dispatcher.dispatch(operation, x.size(), {&x, 1}, kernel), bytes);
}

double float32_above(double x) {
  const auto near = static_cast<float>(x);
  return static_cast<double>(near) < x ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}

std::int64_t buckets(std::int64_t n, std::int64_t bucket) { return (n + bucket - 1) / bucket; }

}  // namespace simgrad::training
