/// The distinct values of a column, sorted: a category's values, a target's classes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace simgrad::data {

template <class Value>
class Distinct {
 public:
  explicit Distinct(std::size_t most) : most_(most) {}

  /// Adds a value. False, and nothing is added, if there would be more than `most`.
  bool add(const Value& value) {
    const auto place = std::lower_bound(values_.begin(), values_.end(), value);
    if (place != values_.end() && !(value < *place)) return true;
    if (values_.size() == most_) return false;
    values_.insert(place, value);
    return true;
  }

  /// The place of an added value in their order.
  std::size_t index(const Value& value) const {
    return static_cast<std::size_t>(std::lower_bound(values_.begin(), values_.end(), value) - values_.begin());
  }

  const std::vector<Value>& values() const { return values_; }
  std::size_t size() const { return values_.size(); }

 private:
  std::size_t most_;
  std::vector<Value> values_;
};

}  // namespace simgrad::data
