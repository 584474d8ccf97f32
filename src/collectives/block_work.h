/// Work on blocks that a ring carries, beside its rounds.
///
/// Source: H. Liu et al., Ring Attention with Blockwise Transformers for Near-Infinite Context, 2023. Each of P members
/// computes with P blocks, one after the other, from its arrival on. Round t = 1 .. P-1 of an all-gather brings block
/// t + 1, with which nobody computes before. Round t of a reduce-scatter takes the sums of block t away, which a member
/// does not send before it has computed with that block. All other collectives are without such work.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/schedule.h"

namespace simgrad::cluster {
class Communicator;
}

namespace simgrad::collectives {

/// One member's. Rounds are numbered from 0.
class BlockWork {
 public:
  /// block_s: seconds of each block.  start_s: the member's arrival.  rounds: of the ring.
  BlockWork(double block_s, double start_s, int rounds) : block_s_(block_s), start_s_(start_s), rounds_(rounds) {}

  /// When the member can begin with a round that takes sums away.
  double may_send_s(int round) const { return start_s_ + (round + 1) * block_s_; }
  /// A round has brought a block.
  void has_come(int round, double at_s) {
    last_begins_s_ = std::max(last_begins_s_, at_s + (rounds_ - 1 - round) * block_s_);
  }
  /// The member's end of a collective that is over at `at_s`. The caller computes with all blocks but the last
  /// meanwhile, at a stretch, and with the last one behind the collective: where the work has waited for a block, the
  /// collective ends when that on the last one begins.
  double end_s(double at_s) const {
    return last_begins_s_ > start_s_ + rounds_ * block_s_ ? std::max(at_s, last_begins_s_) : at_s;
  }

 private:
  double block_s_;
  double start_s_;
  int rounds_;
  double last_begins_s_ = 0.0;  ///< the work on the last block
};

/// The block work of a member that goes message by message; none where no BlockWorkScope names any.
class OwnBlockWork {
 public:
  /// The member calls now.  rounds: of the ring.
  OwnBlockWork(const cluster::Communicator& comm, int rounds);

  /// Blocks until the member can begin with a round that takes sums away.
  void wait_to_send(int round) const;
  /// A round has brought a block now.
  void has_come(int round);
  /// Blocks until the member's end, behind the last round.
  void wait_for_end() const;

 private:
  const cluster::Communicator& comm_;
  std::optional<BlockWork> work_;
};

/// All members', for the walks through a schedule; none where the costs have none.
class BlockWorks {
 public:
  BlockWorks(const Schedule& schedule, const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals)
      : schedule_(schedule) {
    for (std::size_t m = 0; m < costs.block_s.size(); ++m)
      works_.emplace_back(costs.block_s[m], arrivals[m], schedule.rounds());
  }

  /// A member has come to a round.  Returns when it begins with it.
  double begin_s(int round, std::size_t member, double at_s) const {
    return works_.empty() || !takes_away(round) ? at_s : std::max(at_s, works_[member].may_send_s(round));
  }
  /// A member has gone through a round.
  void over(int round, std::size_t member, double at_s) {
    if (!works_.empty() && !takes_away(round)) works_[member].has_come(round, at_s);
  }
  double end_s(std::size_t member, double at_s) const { return works_.empty() ? at_s : works_[member].end_s(at_s); }

  // For all members at once, whose ends so far are those of the timings.

  void begin(int round, std::vector<cluster::MemberTiming>& timings) const {
    each(timings, [&](std::size_t m, double& at_s) { at_s = begin_s(round, m, at_s); });
  }
  void over(int round, std::vector<cluster::MemberTiming>& timings) {
    each(timings, [&](std::size_t m, double& at_s) { over(round, m, at_s); });
  }
  void end(std::vector<cluster::MemberTiming>& timings) const {
    each(timings, [&](std::size_t m, double& at_s) { at_s = end_s(m, at_s); });
  }

 private:
  bool takes_away(int round) const { return schedule_.exchange(round, 0).reduce; }
  template <class Does>
  void each(std::vector<cluster::MemberTiming>& timings, const Does& does) const {
    for (std::size_t m = 0; m < works_.size(); ++m) does(m, timings[m].end_s);
  }

  const Schedule& schedule_;
  std::vector<BlockWork> works_;
};

}  // namespace simgrad::collectives
