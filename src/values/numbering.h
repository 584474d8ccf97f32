/// Value numbering: finds the live node that is already the result of an operation on its operands.
///
/// Source: J. Cocke, J. T. Schwartz, "Programming Languages and Their Compilers", 1970.  Cost: O(operands) a look-up.
/// The table is a hash table chained through the nodes: 8 bytes an entry beside the key itself. Keys are compared in
/// full, so equal hashes do no harm. Identities are never reused, so the entry of a destroyed operand matches nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "values/node.h"

namespace simgrad::values {

class Numbering {
 public:
  /// An operation and its operands as words. The first word packs the name's number and the two counts.
  struct Key {
    std::span<const std::uint64_t> words;
    std::int64_t size = 0;
    std::uint32_t hash = 0;
  };

  /// The key of an operation; its words are valid until the next call. Only the timeline calls this and `interned`,
  /// neither of which touches the table.
  Key key(const Operation& operation, std::int64_t size, std::span<const Tensor> inputs);
  /// A copy of the text that lives as long as the table.
  std::string_view interned(std::string_view name) { return names_[number(name)]; }

  Node* find(const Key& key) const;
  void insert(Node& node, const Key& key);
  /// Calls f for every node of the table.
  template <class F>
  void each(F f) const {
    for (Node* node : buckets_)
      for (; node; node = node->next) f(*node);
  }
  void erase(Node& node);  ///< does nothing for nodes that are not in the table

 private:
  std::size_t number(std::string_view name);
  Node*& bucket(std::uint32_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }
  void grow();

  std::deque<std::string> names_;  // about twenty: searched in order
  std::vector<std::uint64_t> words_;
  std::vector<Node*> buckets_ = std::vector<Node*>(1024);  // always a power of two
  std::size_t count_ = 0;
};

}  // namespace simgrad::values
