/// How many numbers of a vector a sparse code keeps: k of all parameters, or a fraction.
#pragma once

#include <optional>
#include <string>

#include "training/compressors/compressor.h"

namespace simgrad::training {

struct Kept {
  std::optional<std::int64_t> k;
  std::optional<double> fraction;  ///< default 0.01

  void describe(base::Describer& d);
  /// Of a vector of n: its share of k. The shares of stretches that follow each other add up to k, but that each keeps
  /// at least one number, because those of a stretch that keeps none would never be sent.
  std::int64_t of(std::int64_t n, const Occasion& occasion) const;
  /// Why not of so many parameters, or empty.
  std::string refusal(std::int64_t parameters) const;
};

}  // namespace simgrad::training
