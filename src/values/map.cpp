#include "values/map.h"

#include <bit>
#include <vector>

#include "base/errors.h"
#include "values/dispatcher_impl.h"

namespace simgrad::values {

namespace {

Tensor dispatched(std::string_view name, std::span<const double> scalars, std::span<const Tensor> operands,
                  std::int64_t size, int overwrites, Kernel kernel) {
  constexpr double seconds_per_number = 1e-9;  // one square root and one division, or a few numbers from memory
  std::vector<std::uint64_t> key;
  for (const double scalar : scalars) key.push_back(std::bit_cast<std::uint64_t>(scalar));
  std::int64_t numbers = 0;
  for (const Tensor& operand : operands) numbers += operand.size();
  const Operation operation{
      .name = name, .key = key, .seconds = seconds_per_number * static_cast<double>(numbers), .overwrites = overwrites};
  return Node::of(operands.front()).dispatcher->dispatch(operation, size, operands, std::move(kernel));
}

}  // namespace

Tensor mapped(std::string_view name, std::span<const double> scalars, std::span<const Tensor> operands, Kernel kernel) {
  const std::int64_t size = operands.front().size();
  for (const Tensor& operand : operands) base::check(operand.size() == size, "operands of different sizes");
  return dispatched(name, scalars, operands, size, static_cast<int>(operands.size()), std::move(kernel));
}

Tensor computed(std::string_view name, std::span<const double> scalars, std::span<const Tensor> operands,
                std::int64_t size, Kernel kernel) {
  return dispatched(name, scalars, operands, size, 0, std::move(kernel));
}

}  // namespace simgrad::values
