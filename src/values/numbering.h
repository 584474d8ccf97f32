/// Value numbering: which live node is already the result of this operation on these operands.
///
/// Source: J. Cocke, J. T. Schwartz, "Programming Languages and Their Compilers", 1970.  Cost: O(operands) a look-up.
/// The table is a hash table chained through the nodes: 8 bytes an entry beside the key itself. Keys are compared in
/// full, so equal hashes do no harm; identities are never reused, so a dead operand's entry matches nothing.
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
  /// An operation with its operands as words. The first packs the name's number and the two counts.
  struct Key {
    std::span<const std::uint64_t> words;
    std::int64_t size = 0;
    std::uint32_t hash = 0;
  };

  /// Words valid until the next call. Only the timeline calls this and `interned`: they touch nothing of the table.
  Key key(const Operation& operation, std::int64_t size, std::span<const Tensor> inputs);
  /// The same text, living as long as the table.
  std::string_view interned(std::string_view name) { return names_[number(name)]; }

  Node* find(const Key& key) const;
  void insert(Node& node, const Key& key);
  void erase(Node& node);  ///< also of nodes that are not in the table

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
