/// Element-wise functions of several tensors in one pass, for the formulas of optimizers.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "values/dispatcher.h"

namespace simgrad::values {

/// Dispatches a kernel on operands of one size; the result has their size. The kernel reads the operands' elements i
/// before it writes the result's element i, so that the result may take over an operand's storage. `name` and `scalars`
/// identify the kernel: no other kernel may have the same.
Tensor mapped(std::string_view name, std::span<const double> scalars, std::span<const Tensor> operands, Kernel kernel);

/// Computes a result where operands and result have sizes of their own; the result takes over no storage.
Tensor computed(std::string_view name, std::span<const double> scalars, std::span<const Tensor> operands,
                std::int64_t size, Kernel kernel);

/// result[i] = f(a[i], b[i], ...).  f: a pure function of N doubles.
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
