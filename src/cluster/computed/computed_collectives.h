/// Collectives computed at their last arrival instead of message by message.
///
/// Where no member can finish before all have arrived, and nothing else is on their links, the transfers of the
/// collective give each member's end time. The members sleep until their end times: two switches of actors a member
/// instead of two a message.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "cluster/recording/track.h"

namespace simgrad::cluster {

class ContentionCheck;
class Traffic;
class World;

/// The computed collectives of a world's ranks.
class ComputedCollectives {
 public:
  using Members = std::shared_ptr<const std::vector<int>>;
  using MakeTiming = std::function<std::shared_ptr<const CollectiveTiming>()>;

  explicit ComputedCollectives(World& world);
  ~ComputedCollectives();

  /// In the actor of a member: blocks until its own end; returns its result.
  values::Tensor take_part(const Members& members, int generation, int position, const MakeTiming& make,
                           values::Tensor brought);

  /// A rank sends messages to another from now on.  side: from its side stream.
  /// Errors: std::runtime_error where they may meet the transfers of a computed collective.
  void message(int source, int target, bool side) const;

  enum class Way {
    none,        ///< no collective was computed from routes that differ
    apart,       ///< no two transfers of a group can be on one link at one time
    fair_shares  ///< in some groups they can, and have max-min fair rates
  };
  /// How collectives were computed on a network whose routes differ.
  Way way() const;

  /// At the end of the world: settles the accounts of all members in a collective, and counts transfers that have
  /// started.
  void cut(double now);
  /// Collectives for which not all members have arrived, until `now`, by world rank; where somebody records.
  struct Unfinished {
    std::map<int, std::vector<Interval>> intervals;
    std::vector<record::TimedMessage> messages;
  };
  Unfinished unfinished(double now) const;
  /// Drops all collectives under way: their members are gone.
  void dissolve();
  /// Posts what all collectives that are over, or were cut, have sent.
  void post(Traffic& traffic) const;

 private:
  struct Collective;
  struct Group;

  Group& group(const Members& members, int generation);
  const AlphaBetaGamma& costs(Group& group, const CollectiveTiming& timing) const;
  void complete(Group& group, Collective& collective, std::size_t arriver) const;
  void count(Group& group, int generation, const Collective& collective) const;
  void record(const Group& group, const Collective& collective) const;

  World& world_;
  std::unique_ptr<ContentionCheck> contention_;  ///< null: transfers meet at hosts alone
  std::map<std::pair<int, std::vector<int>>, std::shared_ptr<Group>> groups_;
  std::map<std::pair<int, const std::vector<int>*>, Group*> known_;  ///< found without looking at the members
};

}  // namespace simgrad::cluster
