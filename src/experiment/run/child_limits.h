/// Bounds on one simulating process.
#pragma once

#include <optional>

namespace simgrad::experiment {

/// A process is killed when it exceeds one of them.
struct ChildLimits {
  std::optional<double> time_s = {};        ///< real time
  std::optional<double> memory_bytes = {};  ///< resident, with its data, which it has from its parent

  bool any() const { return time_s || memory_bytes; }
};

}  // namespace simgrad::experiment
