#include "values/contents.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/hash.h"

namespace simgrad::values {

namespace {

using Word = std::uint64_t;

constexpr Word first_word = 0x7374617465732d31;  // "states-1": also tells the order of bytes
constexpr std::size_t checksum_length = 32;

void add_bytes(std::string& text, const void* data, std::size_t size) {
  text.append(static_cast<const char*>(data), size);
}

/// Takes so many values off the beginning of the text. Returns whether it has them.
template <class Value>
bool take_values(std::string_view& text, Value* values, Word count) {
  if (count > text.size() / sizeof(Value)) return false;
  if (count > 0) std::memcpy(values, text.data(), count * sizeof(Value));
  text.remove_prefix(count * sizeof(Value));
  return true;
}

/// Takes the next tensor off the text. Returns whether it begins with one, whose lineage is known, and behind those
/// that are there: so they are written.
bool take_tensor(std::string_view& text, Contents& contents) {
  std::array<Word, 3> head{};  // a tensor's lineage and size
  if (!take_values(text, head.data(), head.size()) || head[2] > text.size() / sizeof(double)) return false;
  const Lineage lineage{head[0], head[1]};
  if (lineage == Lineage() || (!contents.empty() && !(contents.rbegin()->first < lineage))) return false;
  std::vector<double> numbers(head[2]);
  const bool whole = take_values(text, numbers.data(), head[2]);
  contents.emplace_hint(contents.end(), lineage, std::move(numbers));
  return whole;
}

}  // namespace

std::string text_of(const Contents& contents) {
  std::string text;
  add_bytes(text, &first_word, sizeof(Word));
  for (const auto& [lineage, numbers] : contents) {
    const std::array<Word, 3> head{lineage.high, lineage.low, numbers.size()};
    add_bytes(text, head.data(), sizeof head);
    add_bytes(text, numbers.data(), numbers.size() * sizeof(double));
  }
  return text + base::hash(text);
}

std::optional<Contents> contents_of(std::string_view text) {
  if (text.size() < sizeof(Word) + checksum_length) return {};
  std::string_view left = text.substr(0, text.size() - checksum_length);
  if (base::hash(left) != text.substr(left.size())) return {};
  Word first = 0;
  if (!take_values(left, &first, 1) || first != first_word) return {};
  Contents contents;
  while (!left.empty())
    if (!take_tensor(left, contents)) return {};
  return contents;
}

}  // namespace simgrad::values
