#include "values/node.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "values/dispatcher_impl.h"

namespace simgrad::values {

Node::~Node() { dispatcher->bury(*this); }

Node& Node::of(const Tensor& tensor) {
  base::check(tensor.node_ != nullptr, "an operation on an empty tensor handle");
  return *tensor.node_;
}

std::span<const double> Node::numbers() const { return {root().buffer.data() + first, static_cast<std::size_t>(size)}; }

std::string description(std::string_view name, const Label& label) {
  if (label.rank < 0 && label.step < 0) return std::string(name);
  if (label.step < 0) return fmt::format("{} (rank {})", name, label.rank);
  if (label.rank < 0) return fmt::format("{} (step {})", name, label.step);
  return fmt::format("{} (rank {}, step {})", name, label.rank, label.step);
}

}  // namespace simgrad::values
