#include "training/learning/clipping.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "values/map.h"

namespace simgrad::training {

namespace {

constexpr double clipping_epsilon = 1e-6;  // PyTorch's

}  // namespace

values::Tensor scaled_to_norm(const values::Tensor& g, double most) {
  const std::array scalars{most};
  const std::array operands{g};
  return values::mapped(
      "clip", scalars, operands, [most](std::span<const std::span<const double>> in, std::span<double> out) {
        double squares = 0.0;
        for (const double g_i : in[0]) squares += g_i * g_i;
        const double factor = most / (std::sqrt(squares) + clipping_epsilon);
        // The result may be written over g.
        std::ranges::transform(in[0], out.begin(), [factor](double g_i) { return factor < 1.0 ? factor * g_i : g_i; });
      });
}

}  // namespace simgrad::training
