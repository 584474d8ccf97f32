/// A group whose collectives are computed, and those under way. Included by .cpp files only.
#pragma once

#include <simgrid/s4u.hpp>

#include "base/by_rank.h"
#include "cluster/computed/computed_collectives.h"
#include "cluster/recording/history.h"

namespace simgrad::cluster {

/// One collective under way.
struct ComputedCollectives::Collective {
  Collective(std::shared_ptr<const CollectiveTiming> its_timing, const AlphaBetaGamma& its_costs, int members)
      : timing(std::move(its_timing)),
        costs(its_costs),
        arrivals(static_cast<std::size_t>(members), std::numeric_limits<double>::infinity()),
        since(static_cast<std::size_t>(members)),
        tensors(static_cast<std::size_t>(members)),
        inside(members, false) {}

  std::shared_ptr<const CollectiveTiming> timing;
  const AlphaBetaGamma& costs;
  std::vector<double> arrivals;
  std::vector<SinceCollective> since;   ///< by member
  std::vector<values::Tensor> tensors;  ///< the members' inputs, then their results
  std::vector<MemberTiming> timings;
  Lateness lateness;  ///< of the last arrival
  base::ByRank<char> inside;
  int arrived = 0;
  int left = 0;
  std::int64_t bytes = 0;  ///< size of one member's input
};

/// The members of a communicator, and their collectives that are over.
struct ComputedCollectives::Group {
  struct Times {
    std::shared_ptr<const CollectiveTiming> timing;
    std::int64_t times = 0;
    std::int64_t bytes = 0;  ///< of each time
  };

  Members members;
  int number = 0;               ///< in the world
  AlphaBetaGamma idle;          ///< every route as slow as the slowest
  AlphaBetaGamma apart;         ///< where no two transfers are on one link at one time
  AlphaBetaGamma sharing;       ///< where some are
  std::string meeting_on = {};  ///< a link on which transfers of two of its collectives may meet; empty: none
  double busy_until_s = 0.0;    ///< the end of the last collective
  std::map<std::string, const AlphaBetaGamma*> decided = {};  ///< by signature
  std::vector<simgrid::s4u::SemaphorePtr> wake;               ///< each member sleeps at its own
  std::shared_ptr<Collective> open;                           ///< not all members have arrived
  std::vector<std::shared_ptr<Collective>> live;
  std::map<std::string, Times> over;  ///< by signature
  SentByPair sent_when_cut;           ///< by members

  int world_rank(std::size_t member) const { return (*members)[member]; }
};

}  // namespace simgrad::cluster
