/// Messages of ranks that are in computed collectives meanwhile.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cluster/computed/computed_collectives.h"
#include "cluster/computed/network_routes.h"
#include "cluster/usage/under_way.h"

namespace simgrad::cluster {

class ContentionCheck;

/// The times of a computed collective are those of its own transfers. Where a message of a member is on one of their
/// links meanwhile, both take longer: the run is given up, to be simulated message by message. A run that leaves this
/// out adds up how long they are on those links. So it is with two collectives of a rank, that of its main actor and
/// that of its side actor.
class BesideMessages {
 public:
  /// check: which numbers the links; null: each host has links of its own, to which nobody else's transfers come.
  BesideMessages(World& world, ContentionCheck* check);

  void leave_out() { leaves_out_ = true; }
  /// The time of such messages on the links that they share, of the rank that has most.
  double left_out_s() const;

  /// A message from one rank to another starts.  Errors: std::runtime_error; Cluster::contended_link() says where.
  void starts(UnderWay& message);
  /// An actor enters a collective: its rank's main one, or its side actor.  Errors: as starts.
  void enter(int rank, bool side, const CollectiveGroup& group, const ComputedCollectives::Collective& collective);
  void leave(int rank, const ComputedCollectives::Collective& collective);
  /// All collectives are gone.
  void clear();

 private:
  struct Present {
    const CollectiveGroup* group = nullptr;
    const ComputedCollectives::Collective* collective = nullptr;
  };
  using Links = std::unordered_set<int>;

  Present& present(int rank, bool side);
  void meet(int rank, const Present& present);
  void compare(int rank, const Present& present, const UnderWay& message);
  std::optional<int> shared_link(const Present& present, int source, int target, int member);
  const Links& links_of(const PlannedPart& part);
  const std::vector<int>& links_between(int source, int target);

  World& world_;
  const bool hosts_alone_;
  bool leaves_out_ = false;
  LinkNumbers own_numbers_;
  LinkNumbers& numbers_;
  MessagesUnderWay under_way_;
  std::vector<Present> present_;  ///< by rank, then by rank of side actors
  std::vector<double> left_out_s_;
  std::unordered_map<const AlphaBetaGamma*, Links> links_;   ///< of parts of collectives, by their costs
  std::map<std::pair<int, int>, std::vector<int>> between_;  ///< links of messages, by their ends
};

}  // namespace simgrad::cluster
