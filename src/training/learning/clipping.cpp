#include "training/learning/clipping.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "values/map.h"

namespace simgrad::training {

namespace {

constexpr double clipping_epsilon = 1e-6;  // PyTorch's

double factor_of(double squares, double most) { return std::min(1.0, most / (std::sqrt(squares) + clipping_epsilon)); }

double squares_of(std::span<const double> g) {
  double squares = 0.0;
  for (const double g_i : g) squares += g_i * g_i;
  return squares;
}

/// The result may be written over g.
void scale(std::span<const double> g, double factor, std::span<double> out) {
  std::ranges::transform(g, out.begin(), [factor](double g_i) { return factor < 1.0 ? factor * g_i : g_i; });
}

values::Tensor kept(const values::Tensor& g, std::span<const models::ParameterStretch> without) {
  if (without.empty()) return g;
  std::vector<values::Tensor> own;
  std::int64_t at = 0;
  for (const models::ParameterStretch& stretch : without) {
    if (stretch.first > at) own.push_back(values::slice(g, at, stretch.first - at));
    at = std::max(at, stretch.first + stretch.count);
  }
  if (at < g.size() || own.empty()) own.push_back(values::slice(g, at, g.size() - at));
  return values::concatenate(own);
}

}  // namespace

values::Tensor scaled_to_norm(const values::Tensor& g, double most) {
  const std::array scalars{most};
  const std::array operands{g};
  return values::mapped("clip", scalars, operands,
                        [most](std::span<const std::span<const double>> in, std::span<double> out) {
                          scale(in[0], factor_of(squares_of(in[0]), most), out);
                        });
}

values::Tensor scaled_to_norm(const values::Tensor& shard, const values::Tensor& squares, double most) {
  const std::array scalars{most};
  const std::array operands{shard, squares};
  return values::computed("clip a shard", scalars, operands, shard.size(),
                          [most](std::span<const std::span<const double>> in, std::span<double> out) {
                            scale(in[0], factor_of(in[1][0], most), out);
                          });
}

values::Tensor sum_of_squares(const values::Tensor& g, std::span<const models::ParameterStretch> without) {
  const std::array operands{kept(g, without)};
  return values::computed(
      "sum of squares", {}, operands, 1,
      [](std::span<const std::span<const double>> in, std::span<double> out) { out[0] = squares_of(in[0]); });
}

}  // namespace simgrad::training
