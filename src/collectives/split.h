/// A vector in P chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "values/tensor.h"

namespace simgrad::collectives {

/// The length of a vector, and its format on the wire.
struct Extent {
  // NOLINTNEXTLINE: a length will do
  Extent(std::int64_t numbers, values::WireFormat weight = {}) : length(numbers), wire(weight) {}
  explicit Extent(const values::Tensor& x) : length(x.size()), wire(x.wire_format()) {}

  std::int64_t length;
  values::WireFormat wire;
};

/// Elements first .. first + count - 1 of a vector.
struct Stretch {
  std::int64_t first = 0;
  std::int64_t count = 0;

  std::int64_t end() const { return first + count; }
};

/// The places of a vector's chunks. Their lengths differ by at most one, the longer ones first; or are given.
class Split {
 public:
  Split(const Extent& vector, int chunks) : chunks_(chunks), length_(vector.length), wire_(vector.wire) {}
  explicit Split(std::span<const std::int64_t> counts, const values::WireFormat& wire = {})
      : chunks_(static_cast<int>(counts.size())), wire_(wire) {
    std::vector<std::int64_t> starts;
    for (const std::int64_t count : counts) {
      starts.push_back(length_);
      length_ += count;
    }
    starts.push_back(length_);
    starts_ = std::make_shared<const std::vector<std::int64_t>>(std::move(starts));
  }

  int chunks() const { return chunks_; }
  std::int64_t length() const { return length_; }
  const values::WireFormat& wire() const { return wire_; }
  std::int64_t bytes(const Stretch& stretch) const { return wire_.bytes(stretch.count); }
  bool even() const { return !starts_; }
  Stretch whole() const { return {0, length_}; }
  Stretch chunk(int k) const { return chunks(k, k + 1); }
  /// Chunks from .. to - 1, which lie one behind the other.
  Stretch chunks(int from, int to) const { return {start(from), start(to) - start(from)}; }
  Stretch largest() const {
    int longest = 0;
    for (int k = 1; starts_ && k < chunks_; ++k)
      if (chunk(k).count > chunk(longest).count) longest = k;
    return chunk(longest);
  }
  std::vector<std::int64_t> starts() const {
    std::vector<std::int64_t> all;
    for (int k = 0; k < chunks_; ++k) all.push_back(start(k));
    return all;
  }

 private:
  std::int64_t start(int k) const {
    if (starts_) return (*starts_)[static_cast<std::size_t>(k)];
    return k * (length_ / chunks_) + std::min<std::int64_t>(k, length_ % chunks_);
  }

  int chunks_;
  std::int64_t length_ = 0;
  values::WireFormat wire_;
  std::shared_ptr<const std::vector<std::int64_t>> starts_;  ///< null: nearly equal chunks
};

}  // namespace simgrad::collectives
