/// A group whose collectives are computed, and those under way. Included by .cpp files only.
#pragma once

#include <map>
#include <simgrid/s4u.hpp>

#include "base/by_rank.h"
#include "cluster/computed/collective_plan.h"
#include "cluster/computed/computed_collectives.h"

namespace simgrad::cluster {

/// One collective under way. Vectors are by member.
struct ComputedCollectives::Collective {
  Collective(std::shared_ptr<const CollectivePlan> its_plan, std::size_t members)
      : plan(std::move(its_plan)),
        arrivals(members, Until::never),
        block_s(members),
        since(members),
        awaited_since_s(members, Until::never),
        order(members),
        actors(members),
        after(members),
        goes_on(members),
        before_leaving(members),
        tensors(members) {}

  std::shared_ptr<const CollectivePlan> plan;
  std::vector<double> arrivals;
  std::vector<double> block_s;  ///< the members' BlockWorkScope; 0: none
  std::vector<SinceCollective> since;
  std::vector<double> awaited_since_s;                  ///< of members that have left: as ActorState has it
  std::vector<int> order;                               ///< in which members have arrived
  std::vector<ActorState*> actors;                      ///< that are in the collective; null: not come yet, or gone
  std::vector<std::shared_ptr<AfterCollective>> after;  ///< where a member does not block in it; null: it does
  std::vector<bool> goes_on;                            ///< a member's end has come, and it is awake
  /// Members that have left: their states up to their arrivals. Where hosts may fail; else null.
  std::vector<std::shared_ptr<const ActorState>> before_leaving;
  std::vector<values::Tensor> tensors;               ///< the members' inputs, then their results
  std::unique_ptr<CollectiveTimes> times;            ///< null: not all members have arrived
  std::vector<std::pair<double, std::size_t>> ends;  ///< all members' end times, in their order
  std::unique_ptr<CollectiveTimes> unfollowed;  ///< until members' ranks began to wait for them; null: not asked for
  std::vector<double> unfollowed_until;
  double recorded_until_s = -Until::never;  ///< in timelines, but for what goes on then
  std::int64_t bytes = 0;                   ///< of the largest input
  int arrived = 0;
  int left = 0;
  int woken = 0;           ///< how often its members' timers were set
  bool by_one = false;     ///< one member calls for all, which are alike (StandIns)
  bool dissolved = false;  ///< all actors were killed
};

/// Members that end at one time: a stretch of `ends`.
struct ComputedCollectives::EndsTogether {
  std::size_t first;
  std::size_t last;  ///< the one behind them
};

/// A member's time in a collective: the causes are those of the rest of it, which is waiting.
struct ComputedCollectives::Left {
  double compute_s = 0.0;
  double communicate_s = 0.0;
  record::TimeParts causes;
};

/// Calls of one collective among the same members that are over.
struct CallsOver {
  std::shared_ptr<const CollectiveTiming> timing;
  std::int64_t times = 0;
  std::int64_t bytes = 0;  ///< of each time
};

/// The members of a communicator, and their collectives that are over.
struct CollectiveGroup {
  ComputedCollectives::Members members;
  int generation = 0;
  int number = 0;               ///< in the world
  AlphaBetaGamma idle;          ///< every route as slow as the slowest
  AlphaBetaGamma apart;         ///< where no two transfers are on one link at one time
  std::string meeting_on = {};  ///< a link on which transfers of two of its collectives may meet; empty: none
  double busy_until_s = 0.0;    ///< the end of the last collective
  std::map<std::string, AlphaBetaGamma> decided = {};  ///< by signature
  std::map<std::string, CallsOver> over;               ///< by signature
  SentByPair sent_when_cut;                            ///< by members

  // Where the group is that of a communicator whose members called, not a part of it.

  std::vector<simgrid::s4u::SemaphorePtr> wake;                        ///< each member sleeps at its own
  std::vector<bool> asleep;                                            ///< by member
  std::map<std::string, std::shared_ptr<const CollectivePlan>> plans;  ///< those of several phases
  std::shared_ptr<ComputedCollectives::Collective> open;               ///< not all members have arrived
  std::vector<std::shared_ptr<ComputedCollectives::Collective>> live;

  CollectiveGroup() = default;
  CollectiveGroup(const CollectiveGroup&) = delete;
  CollectiveGroup& operator=(const CollectiveGroup&) = delete;
  /// SimGrid ends the program when a semaphore goes at which an actor sleeps: after an error there are some.
  ~CollectiveGroup() {
    for (std::size_t m = 0; m < asleep.size(); ++m)
      if (asleep[m]) wake[m]->release();
  }

  int world_rank(std::size_t member) const { return (*members)[member]; }
  /// A member's semaphore.
  const simgrid::s4u::SemaphorePtr& bed(std::size_t member) {
    while (wake.size() < members->size()) wake.push_back(simgrid::s4u::Semaphore::create(0));
    return wake[member];
  }
  /// Blocks the calling actor, a member's, until it is woken.
  void sleep(std::size_t member) {
    const simgrid::s4u::SemaphorePtr& semaphore = bed(member);
    asleep.resize(wake.size());
    asleep[member] = true;
    try {
      semaphore->acquire();
    } catch (...) {
      asleep[member] = false;
      throw;
    }
    asleep[member] = false;
  }
};

}  // namespace simgrad::cluster
