/// Vectors whose new numbers are unset until something writes them: large ones are filled in one pass, and their pages
/// are first touched there.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace simgrad::base {

/// As std::allocator, but numbers without a value stay unset.
template <class Number>
struct UnsetAllocator : std::allocator<Number> {
  template <class Other>
  struct rebind {
    using other = UnsetAllocator<Other>;
  };

  UnsetAllocator() = default;
  template <class Other>
  UnsetAllocator(const UnsetAllocator<Other>&) {}

  template <class Other>
  void construct(Other* place) {
    ::new (static_cast<void*>(place)) Other;
  }
  template <class Other, class... Values>
  void construct(Other* place, Values&&... values) {
    ::new (static_cast<void*>(place)) Other(std::forward<Values>(values)...);
  }
};

template <class Number>
using UnsetVector = std::vector<Number, UnsetAllocator<Number>>;

template <class Number>
bool operator==(const UnsetVector<Number>& some, const std::vector<Number>& others) {
  return std::ranges::equal(some, others);
}

}  // namespace simgrad::base
