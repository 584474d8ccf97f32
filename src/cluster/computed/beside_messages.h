/// Messages of ranks that are in computed collectives meanwhile.
#pragma once

#include <map>
#include <optional>
#include <string>
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
/// out adds up how long there is such a message at any rank, each one as long as it takes alone and behind the rank's
/// others: what waits for it, or for the collective, is as late as that. So it is with collectives that a rank is in at
/// one time: its main actor is in one at most, and each of its side actors in another.
class BesideMessages {
 public:
  /// check: which numbers the links; null: each host has links of its own, to which nobody else's transfers come.
  BesideMessages(World& world, ContentionCheck* check);

  void leave_out() { leaves_out_ = true; }
  /// The time for which some rank has such a message on a link: the run may be as much too short.
  double left_out_s() const { return left_out_s_; }
  /// One of these links; empty: there is none.
  const std::string& left_out_on() const { return left_out_on_; }

  /// A message from one rank to another starts.  Errors: std::runtime_error; Cluster::contended_link() says where.
  void starts(UnderWay& message);
  /// An actor of a member enters a collective.  Errors: as starts.
  void enter(std::size_t member, const CollectiveGroup& group, const ComputedCollectives::Collective& collective);
  void leave(int rank, const ComputedCollectives::Collective& collective);
  /// All collectives are gone.
  void clear();

 private:
  struct Present {
    std::size_t member = 0;  ///< the rank's number in the group
    const CollectiveGroup* group = nullptr;
    const ComputedCollectives::Collective* collective = nullptr;
  };
  using Links = std::unordered_set<int>;

  std::vector<Present>& present(int rank) { return present_[static_cast<std::size_t>(rank)]; }
  void meet(int rank, const Present& present, const Present& other);
  std::optional<int> shared_link(const Present& one, const Present& other);
  std::optional<int> narrowest_of_both(const Links& one, const Links& other) const;
  double alone_s(const PlannedPart& part);
  void compare(int rank, const Present& present, const UnderWay& message);
  std::optional<int> shared_link(const Present& present, int source, int target, int member);
  void add_left_out(int rank, double seconds, int link);
  const Links& links_of(const PlannedPart& part);
  const std::vector<int>& links_between(int source, int target);

  World& world_;
  const bool hosts_alone_;
  bool leaves_out_ = false;
  LinkNumbers own_numbers_;
  LinkNumbers& numbers_;
  MessagesUnderWay under_way_;
  std::vector<std::vector<Present>> present_;  ///< by rank: a collective of each of its actors
  std::vector<double> left_out_until_s_;       ///< by rank
  double all_left_out_until_s_ = 0.0;          ///< the last of these
  double left_out_s_ = 0.0;
  std::string left_out_on_;
  std::unordered_map<const AlphaBetaGamma*, Links> links_;   ///< of parts of collectives, by their costs
  std::map<std::pair<int, int>, std::vector<int>> between_;  ///< links of messages, by their ends
  using TwoParts = std::pair<const AlphaBetaGamma*, const AlphaBetaGamma*>;
  std::map<TwoParts, std::optional<int>> shared_by_;                         ///< the narrowest link that both use
  std::map<std::pair<const AlphaBetaGamma*, std::string>, double> alone_s_;  ///< by costs and signature
};

}  // namespace simgrad::cluster
