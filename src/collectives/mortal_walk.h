/// The time of a schedule whose members may die.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/block_work.h"

namespace simgrad::collectives {

/// As a ScheduleWalk, but each member does what an actor does that goes message by message (run.h). In each round it
/// calls its target, then its source, and stands still from then on if it finds one of them dead. A transfer with one
/// that dies meanwhile is broken: the other end stands still when it waits for it. A transfer that has not begun by
/// then never does, and who waits for it waits for ever. A member that stands still is still there for a message that
/// it has posted.
class MortalWalk {
 public:
  /// costs: with deaths.
  MortalWalk(const Schedule& schedule, const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
             const cluster::Until& until);

  // As the functions of cluster::CollectiveTiming; one of them, once.

  std::vector<cluster::MemberTiming> timings();
  cluster::SentByPair sent();
  double show(cluster::TimingObserver& observer);

 private:
  static constexpr double never = cluster::Death::never;

  static constexpr std::size_t ways = 2;
  using Exchanges = std::array<Exchange, ways>;

  /// A member's part in a round, way by way.
  struct Part {
    Exchanges exchanges;
    bool is_there = false;              ///< it has come, alive
    std::array<bool, ways> sends{};     ///< it has called its target, which is alive
    std::array<bool, ways> receives{};  ///< likewise its source
  };
  struct Transfer {
    double start_s = never;
    double over_s = never;  ///< it has come, or is broken
    bool broken = false;
  };

  void walk();
  void step(int round);
  Part call(int round, int member) const;
  /// To the source's target.
  Transfer transfer(int source, std::size_t way) const;
  void send(int member, std::size_t way);
  /// Returns when the member comes to the next round.
  double go(int member);
  /// Blocks until the transfer is over.  Returns whether the member goes on.
  bool wait(int member, int peer, const Transfer& transfer, std::int64_t bytes, double& now);
  double stand_still(int member, double at_s);
  double reduce(int member, const Exchange& exchange, double now);
  bool nobody_moves() const;
  double ready_s(int member) const { return timings_[static_cast<std::size_t>(member)].end_s; }
  const Part& part(int member) const { return parts_[static_cast<std::size_t>(member)]; }
  std::int64_t bytes(const Stretch& stretch) const { return schedule_.split().bytes(stretch); }

  const Schedule& schedule_;
  const cluster::AlphaBetaGamma& costs_;
  const cluster::Deaths& deaths_;
  cluster::Until until_;
  BlockWorks works_;
  std::vector<cluster::MemberTiming> timings_;
  std::vector<Part> parts_;                      ///< this round
  std::array<std::vector<Transfer>, ways> out_;  ///< of this round, by source
  std::vector<double> ready_;                    ///< for the next round
  cluster::SentByPair* sent_ = nullptr;
  cluster::TimingObserver* observer_ = nullptr;
};

}  // namespace simgrad::collectives
