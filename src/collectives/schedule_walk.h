/// The time of a schedule: all its members, round by round.
#pragma once

#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/block_work.h"

namespace simgrad::collectives {

/// A transfer starts when both its ends have come to its round; a member comes to the next round when both its
/// transfers are over and it has combined what it received.
class ScheduleWalk {
 public:
  ScheduleWalk(const Schedule& schedule, const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
               const cluster::Until& until);

  // As the functions of cluster::CollectiveTiming; one of them, once.

  std::vector<cluster::MemberTiming> timings();
  cluster::SentByPair sent();
  double show(cluster::TimingObserver& observer);

 private:
  bool all_past_the_cut() const;
  void step(int round);
  void receive(std::size_t member, const Exchange& exchange);
  void send(std::size_t member, const Exchange& exchange);
  void reduce(std::size_t member, const Exchange& exchange);
  std::int64_t bytes(const Stretch& stretch) const { return schedule_.split().bytes(stretch); }
  double start_with(std::size_t member, int peer) const {
    return std::max(before_[member].end_s, before_[static_cast<std::size_t>(peer)].end_s);
  }

  const Schedule& schedule_;
  const bool two_ways_;
  const cluster::AlphaBetaGamma& costs_;
  cluster::Until until_;
  BlockWorks works_;
  std::vector<cluster::MemberTiming> timings_;
  std::vector<cluster::MemberTiming> before_;  ///< this round
  cluster::SentByPair* sent_ = nullptr;
  cluster::TimingObserver* observer_ = nullptr;
};

}  // namespace simgrad::collectives
