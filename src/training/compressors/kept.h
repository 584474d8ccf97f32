/// How many numbers of a vector a sparse code keeps: k of all parameters, or a fraction.
#pragma once

#include <optional>
#include <string>

#include "training/compressors/compressor.h"

namespace simgrad::training {

struct Kept {
  std::optional<std::int64_t> k;
  double fraction = 0.01;

  void describe(base::Describer& d);
  /// Of a part of n of so many parameters: its share of k, rounded, and at least one.
  std::int64_t of(std::int64_t n, std::int64_t parameters) const;
  /// Why not of so many parameters, or empty.
  std::string unfit(std::int64_t parameters) const;
};

}  // namespace simgrad::training
