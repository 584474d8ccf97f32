#include "training/compressors/sign.h"

#include <array>
#include <cmath>

#include "base/vectors.h"
#include "values/map.h"

namespace simgrad::training {

namespace {

constexpr std::array scales{
    base::Choice{"l1_mean", "times the mean of the sizes, as error feedback needs"},
    base::Choice{"majority", "1 or -1; the update is a majority vote: the sign of the sum of all ranks' signs"}};

constexpr double sign_seconds_per_number = 2e-9;

double mean_size(std::span<const double> numbers) {
  std::array<double, 4> sums{};
  for (std::size_t i = 0; i < numbers.size(); ++i) sums[i % 4] += std::fabs(numbers[i]);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) / static_cast<double>(numbers.size());
}

SIMGRAD_AVX2_IF_THERE
void signs(const double* x, double size, double* result, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) result[i] = std::copysign(size, x[i]);
}

}  // namespace

void Sign::describe(base::Describer& d) {
  d.choice("scale", scale, scales, "the factor of the signs");
  describe_error_feedback(d);
  describe_passes(d);
  if (error_feedback && scale == Scale::majority)
    d.refuse("error_feedback",
             "error_feedback adds the part of the sizes that a message leaves out, but scale = \"majority\" sends no "
             "sizes; set scale = \"l1_mean\", or leave error_feedback out");
}

values::Tensor Sign::encode(const values::Tensor& x, const Occasion& occasion, CompressorMemory&) const {
  const bool votes = scale == Scale::majority;
  const std::uint64_t key[] = {votes ? 1U : 0U};
  const values::Operation operation{
      .name = "sign", .key = key, .seconds = sign_seconds_per_number * static_cast<double>(x.size()), .overwrites = 1};
  const auto kernel = [votes](std::span<const std::span<const double>> in, std::span<double> result) {
    const double size = votes ? 1.0 : static_cast<double>(static_cast<float>(mean_size(in.front())));
    signs(in.front().data(), size, result.data(), result.size());
  };
  return values::encoded(occasion.dispatcher.dispatch(operation, x.size(), {&x, 1}, kernel),
                         (x.size() + 7) / 8 + (votes ? 0 : 4));
}

values::Tensor Sign::concluded(const values::Tensor& sum) const {
  if (scale != Scale::majority) return sum;
  return values::map<1>("vote", {}, {sum}, [](double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0; });
}

}  // namespace simgrad::training
