/// Numbers keys by their first appearance, in constant time each and without a branch that has to be guessed.
///
/// place[key] is a key's number if that number's key says so too: nothing has to be cleared, and of the array only the pages
/// of keys that occur take memory.
/// Source: P. Briggs, L. Torczon, An Efficient Representation for Sparse Sets, ACM Letters on Programming Languages and
/// Systems 2, 1993.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "base/huge_pages.h"

namespace simgrad::training {

class DistinctKeys {
 public:
  /// most_key: keys are below it.
  explicit DistinctKeys(std::int64_t most_key)
      : place_(static_cast<std::uint32_t*>(std::calloc(static_cast<std::size_t>(most_key) + 1, sizeof(std::uint32_t)))) {
    if (!place_) throw std::bad_alloc();
    base::prefer_huge_pages(place_.get(), static_cast<std::size_t>(most_key) * sizeof(std::uint32_t));
  }

  /// Forgets all; at most so many keys will come.
  void begin(std::int64_t most) {
    if (keys_.size() < static_cast<std::size_t>(most) + 1) keys_.resize(static_cast<std::size_t>(most) + 1);
    count_ = 0;
  }

  /// 0, 1, ...: of the first key to come, of the first other one, ...
  std::uint32_t number(std::uint32_t key) {
    std::uint32_t own = 0;
    number({&key, 1}, &own);
    return own;
  }
  /// The same of many.  numbers: as many.
  void number(std::span<const std::uint32_t> keys, std::uint32_t* numbers) {
    std::uint32_t* const place_of = place_.get();
    std::uint32_t* const key_of = keys_.data();
    std::uint32_t count = count_;  // a member might be what the stores below change, for all the compiler knows
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint32_t key = keys[i], place = place_of[key];
      key_of[count] = key;  // if it is new, this is its place
      const std::uint32_t within = std::min(place, count);
      // Whether it is found there: no processor could guess.
      const std::uint32_t found = -static_cast<std::uint32_t>(key_of[within] == key);
      const std::uint32_t own = count ^ ((count ^ within) & found);
      place_of[key] = own;
      numbers[i] = own;
      count += own == count ? 1 : 0;
    }
    count_ = count;
  }
  void prefetch(std::uint32_t key) const { __builtin_prefetch(place_.get() + key, 1); }

  /// Of a key that has come, or nothing.
  std::optional<std::uint32_t> find(std::uint32_t key) const {
    const std::uint32_t place = place_.get()[key];
    return place < count_ && keys_[place] == key ? std::optional(place) : std::nullopt;
  }

  /// By number.
  std::vector<std::uint32_t> keys() const { return {keys_.begin(), keys_.begin() + count_}; }
  std::uint32_t count() const { return count_; }

 private:
  struct Free {
    void operator()(std::uint32_t* place) const { std::free(place); }
  };
  std::unique_ptr<std::uint32_t, Free> place_;
  std::vector<std::uint32_t> keys_;
  std::uint32_t count_ = 0;
};

}  // namespace simgrad::training
