/// The count of numbers that a sparse code keeps: k of all parameters, or a fraction.
#pragma once

#include <optional>
#include <string>

#include "training/compressors/compressor.h"

namespace simgrad::training {

struct Kept {
  std::optional<std::int64_t> k;
  std::optional<double> fraction;  ///< default 0.01

  void describe(base::Describer& d);
  /// The count kept of a vector of n numbers: its share of k. The shares of consecutive ranges add up to k, except that
  /// each range keeps at least one number, because the numbers of a range that keeps none would never be sent.
  std::int64_t of(std::int64_t n, const Occasion& occasion) const;
  /// The reason why k does not suit so many parameters, or empty.
  std::string refusal(std::int64_t parameters) const;
};

}  // namespace simgrad::training
