/// Numbers keys by their first appearance, in constant time each and without an unpredictable branch.
///
/// A value place[key] is valid if it is at least `base_`, which grows by the number of keys of each round: nothing has
/// to be cleared, and no key waits for the one before. Only the pages of keys that occur take memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "base/huge_pages.h"

namespace simgrad::training {

class DistinctKeys {
 public:
  /// most_key: keys are below it.  base: at least 1; with a larger one the array is cleared sooner.
  explicit DistinctKeys(std::int64_t most_key, std::uint32_t base = 1)
      : place_(static_cast<std::uint32_t*>(std::calloc(static_cast<std::size_t>(most_key) + 1, sizeof(std::uint32_t)))),
        most_key_(most_key),
        base_(base) {
    if (!place_) throw std::bad_alloc();
    base::prefer_huge_pages(place_.get(), static_cast<std::size_t>(most_key) * sizeof(std::uint32_t));
  }

  /// Begins a round of at most so many keys.
  void begin(std::int64_t most) {
    if (keys_.size() < static_cast<std::size_t>(most) + 1) keys_.resize(static_cast<std::size_t>(most) + 1);
    base_ += count_;
    count_ = 0;
    if (most < std::numeric_limits<std::uint32_t>::max() - base_) return;
    std::fill_n(place_.get(), most_key_, 0u);
    base_ = 1;
  }

  /// The key's number: 0 for the first key of the round, 1 for the first other one, ...
  std::uint32_t number(std::uint32_t key) {
    std::uint32_t own = 0;
    number({&key, 1}, &own);
    return own;
  }
  /// Numbers many keys.  numbers: one for each.
  void number(std::span<const std::uint32_t> keys, std::uint32_t* numbers) {
    std::uint32_t* const place_of = place_.get();
    std::uint32_t* const key_of = keys_.data();
    const std::uint32_t base = base_;
    std::uint32_t next = base + count_;  // for all the compiler knows, the stores below might change a member
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint32_t key = keys[i], place = place_of[key];
      key_of[next - base] = key;  // if it is new, this is its place
      const std::uint32_t own = place >= base ? place : next;
      place_of[key] = own;
      numbers[i] = own - base;
      next += place < base ? 1 : 0;
    }
    count_ = next - base;
  }
  void prefetch(std::uint32_t key) const { __builtin_prefetch(place_.get() + key, 1); }

  /// The number of a key of this round, or nothing.
  std::optional<std::uint32_t> find(std::uint32_t key) const {
    const std::uint32_t place = place_.get()[key];
    return place >= base_ ? std::optional(place - base_) : std::nullopt;
  }

  /// The round's keys, by number.
  std::vector<std::uint32_t> keys() const { return {keys_.begin(), keys_.begin() + count_}; }
  std::uint32_t count() const { return count_; }

 private:
  struct Free {
    void operator()(std::uint32_t* place) const { std::free(place); }
  };
  std::unique_ptr<std::uint32_t, Free> place_;
  std::int64_t most_key_;
  std::vector<std::uint32_t> keys_;
  std::uint32_t base_;  ///< place[key] is the key's number + base_; a smaller one: not in this round
  std::uint32_t count_ = 0;
};

}  // namespace simgrad::training
