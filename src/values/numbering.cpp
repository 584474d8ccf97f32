#include "values/numbering.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace simgrad::values {

namespace {

constexpr std::size_t count_bits = 24;
constexpr std::size_t count_mask = (std::size_t{1} << count_bits) - 1;

std::uint32_t hashed(std::span<const std::uint64_t> words, std::int64_t size) {
  auto hash = static_cast<std::uint64_t>(size);
  for (const std::uint64_t word : words) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;  // 2^64 / the golden ratio
    hash ^= hash >> 32;
  }
  return static_cast<std::uint32_t>(hash);
}

}  // namespace

std::size_t Numbering::number(std::string_view name) {
  const auto at = std::find(names_.begin(), names_.end(), name);
  if (at != names_.end()) return static_cast<std::size_t>(at - names_.begin());
  names_.emplace_back(name);
  return names_.size() - 1;
}

Numbering::Key Numbering::key(const Operation& operation, std::int64_t size, std::span<const Tensor> inputs) {
  base::check(operation.key.size() <= count_mask && inputs.size() <= count_mask, "an operation of 2^24 operands");
  words_.clear();
  words_.push_back(number(operation.name) << 2 * count_bits | operation.key.size() << count_bits | inputs.size());
  words_.insert(words_.end(), operation.key.begin(), operation.key.end());
  for (const Tensor& input : inputs) words_.push_back(Node::of(input).id);
  return {words_, size, hashed(words_, size)};
}

Node* Numbering::find(const Key& key) const {
  Node* node = buckets_[key.hash & (buckets_.size() - 1)];
  for (; node; node = node->next)
    if (node->hash == key.hash && node->size == key.size && node->key[0] == key.words[0] &&
        std::equal(key.words.begin(), key.words.end(), node->key.get()))
      return node;
  return nullptr;
}

void Numbering::insert(Node& node, const Key& key) {
  if (count_ >= buckets_.size()) grow();
  node.key = std::make_unique_for_overwrite<std::uint64_t[]>(key.words.size());
  std::copy(key.words.begin(), key.words.end(), node.key.get());
  node.hash = key.hash;
  node.next = bucket(key.hash);
  bucket(key.hash) = &node;
  ++count_;
}

void Numbering::erase(Node& node) {
  if (!node.key) return;
  Node** link = &bucket(node.hash);
  while (*link != &node) link = &(*link)->next;
  *link = node.next;
  node.key.reset();
  --count_;
}

void Numbering::grow() {
  const std::vector<Node*> old = std::exchange(buckets_, std::vector<Node*>(2 * buckets_.size()));
  for (Node* node : old)
    while (node) {
      Node* const rest = node->next;
      node->next = std::exchange(bucket(node->hash), node);
      node = rest;
    }
}

}  // namespace simgrad::values
