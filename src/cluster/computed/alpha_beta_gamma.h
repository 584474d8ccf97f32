/// The alpha-beta-gamma model: latency, time a byte, time a flop.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
/// 19, 2005.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace simgrad::cluster {

/// The costs of messages and reductions among the members of a group when nothing contends.
struct AlphaBetaGamma {
  double latency_s = 0.0;
  double bandwidth_bytes_per_s = 1.0;
  std::vector<double> seconds_per_flop;  ///< each member's; zeros where reductions are free

  double flow_limit_bytes_per_s = std::numeric_limits<double>::infinity();

  double transfer_s(std::int64_t bytes) const { return latency_s + flow_s(static_cast<double>(bytes), 1.0); }
  /// The time in which each of `flows` flows through one link sends its bytes.
  double flow_s(double bytes, double flows) const {
    return std::max(bytes * flows / bandwidth_bytes_per_s, bytes / flow_limit_bytes_per_s);
  }
};

}  // namespace simgrad::cluster
