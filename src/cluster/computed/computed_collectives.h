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

#include "cluster/computed/collective_phases.h"
#include "cluster/computed/deaths.h"
#include "cluster/recording/unfinished_collectives.h"

namespace simgrad::cluster {

class ActorState;
class AfterCollective;
class BesideMessages;
class CollectiveTimes;
class ContentionCheck;
class LinkNumbers;
class MembersReplay;
class Traffic;
class World;
struct CollectiveGroup;
struct CollectivePlan;
struct PartTimes;
struct PlannedPart;
struct PlannedPhase;

/// The computed collectives of a world's ranks.
class ComputedCollectives {
 public:
  using Members = std::shared_ptr<const std::vector<int>>;
  using MakeTiming = std::function<std::shared_ptr<const CollectiveTiming>()>;
  /// One under way.
  struct Collective;

  /// A member's call.
  struct Call {
    const Members& members;
    int generation;
    int position;
    ActorState& actor;  ///< the calling one's state
  };
  /// Says the phases of a collective.  key: equal for equal phases of these members; asked for more often.
  struct MakePhases {
    const std::function<std::string()>& key;
    const std::function<CollectivePhases()>& phases;
  };

  explicit ComputedCollectives(World& world);
  ~ComputedCollectives();

  /// In an actor of a member: blocks until its own end; returns its result.  Where the actor has an AfterCollective,
  /// the call returns nothing at once, and the result goes to it at the member's end.
  values::Tensor take_part(const Call& call, const MakeTiming& make, values::Tensor brought);
  values::Tensor take_part(const Call& call, const MakePhases& make, values::Tensor brought);

  /// A rank sends messages to another from now on.  side: from its side stream.
  /// Errors: std::runtime_error where they may meet the transfers of a computed collective.
  void message(int source, int target, bool side) const;
  /// Messages that are under way beside collectives; null: nothing is computed.
  BesideMessages* beside_messages() const { return beside_.get(); }

  enum class Way {
    none,        ///< no collective was computed from routes that differ
    apart,       ///< no two transfers of a group can be on one link at one time
    fair_shares  ///< in some groups they can, and have max-min fair rates
  };
  /// How collectives were computed on a network whose routes differ.
  Way way() const;

  /// The rank's host goes down now, and its actors die: their accounts are settled. Collectives that they are in end
  /// for those alone who do not depend on them.  To be called before Timekeeper::go_down.
  void crash(int rank);
  /// The host is up again, without the rank.
  void revive(int rank);
  /// All actors are about to be killed: settles the accounts of those in a collective as if it went message by message,
  /// and counts transfers that have started.
  void break_off() const;
  /// At the end of the world: settles the accounts of all members in a collective, and counts transfers that have
  /// started.
  void cut(double now);
  /// Collectives for which not all members have arrived, until `now`.
  UnfinishedCollectives unfinished(double now) const;
  /// Drops all collectives under way: their members are gone.
  void dissolve();
  /// Posts what all collectives that are over, or were cut, have sent.
  void post(Traffic& traffic) const;

 private:
  using Plan = std::shared_ptr<const CollectivePlan>;
  struct Left;
  struct EndsTogether;

  CollectiveGroup& group(const Members& members, int generation);
  const AlphaBetaGamma& costs(CollectiveGroup& group, const CollectiveTiming& timing,
                              const std::string& signature) const;
  PlannedPart plan(CollectiveGroup& group, const std::shared_ptr<const CollectiveTiming>& timing) const;
  Plan plan(CollectiveGroup& group, const MakePhases& make);
  values::Tensor take_part(const Call& call, CollectiveGroup& group, values::Tensor brought);
  void arrive(const Call& call, CollectiveGroup& group, const std::shared_ptr<Collective>& collective,
              values::Tensor brought) const;
  void complete(CollectiveGroup& group, const std::shared_ptr<Collective>& collective) const;
  bool meets_others(const Collective& collective) const;
  void note_spread(const Collective& collective) const;
  static void combine(const PlannedPhase& phase, std::vector<values::Tensor>& tensors);
  void wake(CollectiveGroup& group, const std::shared_ptr<Collective>& collective) const;
  void go_on(CollectiveGroup& group, const std::shared_ptr<Collective>& collective, const EndsTogether& members) const;
  void go_on(CollectiveGroup& group, const std::shared_ptr<Collective>& collective, std::size_t member) const;
  values::Tensor result(CollectiveGroup& group, const std::shared_ptr<Collective>& collective,
                        std::size_t member) const;
  void find_lateness(const CollectiveGroup& group, const Collective& collective, CollectiveTimes& times) const;
  Left leave(const CollectiveGroup& group, Collective& collective, const CollectiveTimes& times,
             std::size_t member) const;
  static void find_unfollowed(Collective& collective, const CollectiveTimes& times, std::size_t member, double since_s);
  void cut(const CollectiveGroup& group, Collective& collective, double now) const;
  Deaths deaths(const CollectiveGroup& group, const Collective& collective) const;
  CollectiveTimes times(const CollectiveGroup& group, const Collective& collective, const Until& until) const;
  void end_with_deaths(const CollectiveGroup& group, Collective& collective) const;
  void record_broken(const CollectiveGroup& group, Collective& collective, int ending) const;
  /// One of the collectives under way, as far as its members would be message by message.
  struct Replayed;
  /// All of them, until now.  Calls visit(collective, part, its times, replay) behind each part.
  template <class Visit>
  std::vector<Replayed> replay_all(const Visit& visit) const;
  MembersReplay replay(const CollectiveGroup& group, const Collective& collective) const;
  void walk_again(int rank) const;
  void break_off(const Replayed& replayed, std::size_t member) const;
  void count(const PlannedPart& part, const PartTimes& times, const Collective& collective) const;
  void record_ahead(Collective& collective) const;
  /// Members whose time in a collective ends by force: one of them, or these.
  struct Ending {
    static constexpr int nobody = -1, all = -2;
  };
  void record(Collective& collective, const CollectiveTimes& times, double until_s, int ending) const;

  World& world_;
  bool hosts_may_fail_ = false;
  std::vector<Death> deaths_;                    ///< by rank, since all actors were killed; empty: none has died
  std::unique_ptr<ContentionCheck> contention_;  ///< null: transfers meet at hosts alone
  std::unique_ptr<LinkNumbers> own_numbers_;     ///< where there is no check; null: no routes are asked for
  std::unique_ptr<BesideMessages> beside_;       ///< null: nothing is computed
  std::map<std::pair<int, std::vector<int>>, std::shared_ptr<CollectiveGroup>> groups_;
  std::map<std::pair<int, const std::vector<int>*>, CollectiveGroup*> known_;  ///< found without looking at the members
};

}  // namespace simgrad::cluster
