/// A vector with one element a rank.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace simgrad::base {

/// Ranks are int (MPI's convention), indices of a vector are not: this one takes ints.
template <class T>
class ByRank {
 public:
  ByRank() = default;
  explicit ByRank(int ranks, const T& value = T()) : elements_(static_cast<std::size_t>(ranks), value) {}
  explicit ByRank(std::vector<T> elements) : elements_(std::move(elements)) {}

  T& operator[](int rank) { return elements_[static_cast<std::size_t>(rank)]; }
  const T& operator[](int rank) const { return elements_[static_cast<std::size_t>(rank)]; }
  T& at(int rank) { return elements_.at(static_cast<std::size_t>(rank)); }
  const T& at(int rank) const { return elements_.at(static_cast<std::size_t>(rank)); }

  int size() const { return static_cast<int>(elements_.size()); }
  bool empty() const { return elements_.empty(); }
  T& front() { return elements_.front(); }
  const T& front() const { return elements_.front(); }
  void resize(int ranks) { elements_.resize(static_cast<std::size_t>(ranks)); }
  void push_back(T element) { elements_.push_back(std::move(element)); }

  auto begin() { return elements_.begin(); }
  auto end() { return elements_.end(); }
  auto begin() const { return elements_.begin(); }
  auto end() const { return elements_.end(); }

  const std::vector<T>& vector() const& { return elements_; }
  std::vector<T> vector() && { return std::move(elements_); }

 private:
  std::vector<T> elements_;
};

}  // namespace simgrad::base
