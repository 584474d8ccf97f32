/// Element-wise functions of several tensors in one pass, for whoever has formulas of his own (optimizers).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "values/dispatcher.h"

namespace simgrad::values {

/// A tensor of the operands' size, which all have, from a kernel that reads their elements i before it writes the
/// result's element i: the result may then take over an operand's storage. `name` and `scalars` stand for the kernel:
/// they must tell it from all others.
Tensor mapped(std::string_view name, std::span<const double> scalars, std::span<const Tensor> operands, Kernel kernel);

/// result[i] = f(a[i], b[i], ...).  f: a function of N doubles without a memory.
template <std::size_t N, class F>
Tensor map(std::string_view name, std::span<const double> scalars, const std::array<Tensor, N>& operands, F f) {
  const auto kernel = [f]<std::size_t... k>(std::index_sequence<k...>, std::span<const std::span<const double>> in,
                                            std::span<double> out) {
    const std::array<const double*, N> x{in[k].data()...};
    double* const result = out.data();
    const std::size_t n = out.size();
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) result[i] = f(x[k][i]...);
  };
  return mapped(name, scalars, operands, [kernel](std::span<const std::span<const double>> in, std::span<double> out) {
    kernel(std::make_index_sequence<N>(), in, out);
  });
}

}  // namespace simgrad::values
