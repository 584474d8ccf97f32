/// What meetings keep of a group and of each collective of it.
#pragma once

#include <simgrid/s4u.hpp>

#include "cluster/computed/computed_collectives.h"

namespace simgrad::cluster {

/// One collective under way.
struct ComputedCollectives::Collective {
  Collective(std::shared_ptr<const CollectiveTiming> its_course, std::size_t members)
      : course(std::move(its_course)),
        arrivals(members, std::numeric_limits<double>::infinity()),
        tensors(members),
        inside(members, false) {}

  std::shared_ptr<const CollectiveTiming> course;
  std::vector<double> arrivals;
  std::vector<values::Tensor> tensors;  ///< brought, then taken away
  std::vector<MemberTiming> timings;
  std::vector<char> inside;
  std::size_t come = 0;
  std::size_t gone = 0;
  std::int64_t bytes = 0;  ///< that a member brings
};

/// The members of a communicator, and what they have behind them.
struct ComputedCollectives::Group {
  Members members;
  AlphaBetaGamma costs;
  std::vector<simgrid::s4u::SemaphorePtr> wake;  ///< each member sleeps at its own
  std::shared_ptr<Collective> open;              ///< not everybody has come
  std::vector<std::shared_ptr<Collective>> live;
  std::map<std::string, std::pair<std::shared_ptr<const CollectiveTiming>, std::int64_t>>
      over;  ///< by signature: how many
};

}  // namespace simgrad::cluster
