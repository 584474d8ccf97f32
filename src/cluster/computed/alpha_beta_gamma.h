/// The alpha-beta-gamma model: latency, time a byte, time a flop.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
/// 19, 2005.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "cluster/computed/deaths.h"
#include "cluster/computed/member_routes.h"

namespace simgrad::cluster {

/// The costs of messages and reductions among the members of a group when nothing else is on the network.
struct AlphaBetaGamma {
  double latency_s = 0.0;                ///< of every message, where all routes are alike
  double bandwidth_bytes_per_s = 1.0;    ///< likewise
  std::vector<double> seconds_per_flop;  ///< each member's; zeros where reductions are free

  double flow_limit_bytes_per_s = std::numeric_limits<double>::infinity();  ///< where all routes are alike
  std::shared_ptr<const MemberRoutes> routes = {};                          ///< null: all routes are alike
  /// By link number: whether flows of the collective may be on it at one time, and share it fairly; null: on no link.
  std::shared_ptr<const std::vector<bool>> shared_links = {};
  /// Null: nobody dies, and no actor's state is asked for (TimingObserver::blocks).
  std::shared_ptr<const Deaths> deaths = {};
  /// The seconds of each member's work on each of the blocks that a ring carries (BlockWorkScope); empty: none works.
  std::vector<double> block_s = {};

  bool flows_share_links() const { return shared_links != nullptr; }
  /// Whether members wait for nothing but each other's transfers, none of which shares a link.
  bool only_rounds() const { return !flows_share_links() && !deaths && block_s.empty(); }

  double transfer_s(std::int64_t bytes) const { return latency_s + flow_s(static_cast<double>(bytes), 1.0); }
  /// The time of a message alone.
  double transfer_s(int source, int target, std::int64_t bytes) const {
    if (!routes) return transfer_s(bytes);
    const MemberRoute& route = routes->between(source, target);
    return route.latency_s + static_cast<double>(bytes) / route.alone_bytes_per_s();
  }
  /// The time in which each of `flows` flows through one link sends its bytes.
  double flow_s(double bytes, double flows) const {
    return std::max(bytes * flows / bandwidth_bytes_per_s, bytes / flow_limit_bytes_per_s);
  }
};

}  // namespace simgrad::cluster
