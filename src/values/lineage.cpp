#include "values/lineage.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "values/dispatcher.h"
#include "values/node.h"

namespace simgrad::values {

namespace {

enum class Kind : std::uint64_t { result = 1, constant, view };

void add_text(std::vector<std::uint64_t>& words, std::string_view text) {
  words.push_back(text.size());
  for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(8, text.size()))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min<std::size_t>(8, text.size()));
    words.push_back(word);
  }
}

/// The lineage of slices that follow one another in tensors of one lineage: that of the slice that they make together.
/// Whether they are slices of one tensor in memory is a matter of when the last one was dropped. Nothing for others.
std::optional<Lineage> lineage_of_joined(std::span<const Tensor> parts, const WireFormat& wire) {
  const Node* front = nullptr;
  std::int64_t size = 0;
  for (const Tensor& part : parts) {
    const Node& node = Node::of(part);
    if (node.size == 0) continue;
    if (!front) front = &node;
    if (node.root().lineage != front->root().lineage || node.first != front->first + size) return {};
    size += node.size;
  }
  if (!front) return {};
  const Node& root = front->root();
  return size == root.size && wire == root.wire_format ? root.lineage
                                                       : lineage_of_view(root.lineage, front->first, size, wire);
}

}  // namespace

Lineage lineage_of(const Operation& operation, std::int64_t size, std::span<const Tensor> inputs) {
  if (!operation.numbered) return {};
  if (operation.joins)
    if (const auto joined = lineage_of_joined(inputs, operation.wire_format)) return *joined;
  std::vector<std::uint64_t> words{static_cast<std::uint64_t>(Kind::result), static_cast<std::uint64_t>(size),
                                   static_cast<std::uint64_t>(operation.wire_format.format),
                                   std::bit_cast<std::uint64_t>(operation.wire_format.bytes_per_number)};
  add_text(words, operation.name);
  words.push_back(operation.key.size());
  words.insert(words.end(), operation.key.begin(), operation.key.end());
  std::vector<Lineage> operands;
  for (const Tensor& input : inputs) {
    operands.push_back(Node::of(input).lineage);
    if (operands.back() == Lineage()) return {};
  }
  // The order of a and b is that of their creation, which differs from run to run.
  if (operation.commutes) std::ranges::sort(operands);
  for (const Lineage& operand : operands) words.insert(words.end(), {operand.high, operand.low});
  return base::digest(words);
}

Lineage lineage_of_constant(std::span<const double> numbers) {
  std::vector<std::uint64_t> words{static_cast<std::uint64_t>(Kind::constant)};
  for (const double number : numbers) words.push_back(std::bit_cast<std::uint64_t>(number));
  return base::digest(words);
}

Lineage lineage_of_view(const Lineage& whole, std::int64_t first, std::int64_t count, const WireFormat& wire) {
  if (whole == Lineage()) return {};
  const std::uint64_t words[] = {static_cast<std::uint64_t>(Kind::view),
                                 static_cast<std::uint64_t>(first),
                                 static_cast<std::uint64_t>(count),
                                 static_cast<std::uint64_t>(wire.format),
                                 std::bit_cast<std::uint64_t>(wire.bytes_per_number),
                                 whole.high,
                                 whole.low};
  return base::digest(words);
}

}  // namespace simgrad::values
