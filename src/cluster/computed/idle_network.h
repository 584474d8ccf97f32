/// The times of collectives of a group when nothing else is on the network: predictions without a message.
#pragma once

#include <memory>
#include <vector>

#include "cluster/computed/alpha_beta_gamma.h"
#include "cluster/computed/collective_timing.h"
#include "cluster/fabric/link_numbers.h"

namespace simgrad::cluster {

class World;

/// As computed collectives have it: each transfer has its own route's latency, and its max-min fair share of links on
/// which it may meet others of the collective. Hosts and links are as they were described.
class IdleNetwork {
 public:
  /// members: world ranks.
  IdleNetwork(const World& world, const std::vector<int>& members);

  /// The end of the last member, in seconds, when all come at 0.  pairs: a collective whose members send to the same
  /// ones; the collective itself, or a short one like it.  at_most_s: where it takes longer, any longer time is
  /// returned, and less is computed. Infinite: its time is not known without messages.
  double seconds(const CollectiveTiming& timing, const CollectiveTiming& pairs, double at_most_s) const;

  /// The route between two members, numbered in the group.
  const MemberRoute& route(int source, int target) const { return routes_->between(source, target); }

 private:
  /// The costs where transfers of the collective may be on one link at one time.
  AlphaBetaGamma costs(const CollectiveTiming& pairs) const;

  LinkNumbers numbers_;
  std::shared_ptr<const MemberRoutes> routes_;
  AlphaBetaGamma apart_;
  std::vector<double> at_once_;
};

}  // namespace simgrad::cluster
