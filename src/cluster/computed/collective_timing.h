/// The time of a collective that is computed at its last arrival.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/computed/alpha_beta_gamma.h"
#include "cluster/usage/sent.h"
#include "values/tensor.h"

namespace simgrad::cluster {

/// One member's time from its arrival to its end; the rest of it is waiting.
struct MemberTiming {
  double end_s = 0.0;  ///< infinite: it dies, or waits for somebody who has died
  double compute_s = 0.0;
  double communicate_s = 0.0;
};

double last_end_s(std::span<const MemberTiming> timings);

/// The time until which a collective's spans count: one for all members, or one for each.
class Until {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  Until(double all) : all_(all) {}  // NOLINT(google-explicit-constructor): mostly one for all
  /// Minus infinity: nothing of that member's counts.
  explicit Until(std::vector<double> each);

  double of(int member) const { return each_.empty() ? all_ : each_[static_cast<std::size_t>(member)]; }
  /// As the members at these positions of a group see it; empty: as all do.
  Until of_members(std::span<const int> positions) const;
  friend bool operator==(const Until&, const Until&) = default;
  bool is_never() const { return each_.empty() && all_ == never; }
  /// The latest.
  double last() const { return all_; }
  /// The part of a member's span that counts, in seconds.
  double part_s(int member, double from_s, double to_s) const {
    const double until_s = of(member);
    return from_s < until_s ? std::min(to_s, until_s) - from_s : 0.0;
  }

 private:
  double all_;
  std::vector<double> each_;  ///< by member
};

/// Sees every span and message of a collective; members are numbered in the group.
class TimingObserver {
 public:
  virtual ~TimingObserver() = default;
  virtual void computes(int member, double from_s, double to_s) = 0;
  /// The member is blocked by a transfer that is under way, in or out.
  virtual void communicates(int member, int peer, std::int64_t bytes, double from_s, double to_s) = 0;
  virtual void sends(int source, int target, std::int64_t bytes, double start_s, double end_s) = 0;

  // The two functions below show what an actor would do message by message. They are called only where the costs have
  // deaths, be they none. A member that is waited for has been shown up to the beginning of the transfer.

  /// The member is blocked by a transfer from or to a peer, which starts and is over at these times; infinite: never.
  virtual void blocks(int /*member*/, int /*peer*/, double /*since_s*/, double /*start_s*/, double /*end_s*/) {}
  /// The member finds that a peer is dead, and stands still from then on.
  virtual void loses_peer(int /*member*/, double /*at_s*/) {}
  /// Whether the viewer has enough: later spans need not be shown.
  virtual bool enough() const = 0;
};

/// One collective as its members go through it. No member finishes before all have arrived.
class CollectiveTiming {
 public:
  static constexpr double uncut = Until::never;

  virtual ~CollectiveTiming() = default;
  /// The algorithm's name.
  virtual std::string_view name() const = 0;
  /// Equal for collectives that send the same messages: counted together.
  virtual std::string signature() const = 0;
  /// Every member's timing, as far as it lies before `until`.  arrivals: one a member; infinite: it has not arrived.
  virtual std::vector<MemberTiming> timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                            const Until& until) const = 0;
  /// Bytes and messages between members (numbered in the group), of transfers that started by `until`.
  virtual SentByPair sent(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const = 0;
  /// The end of the last member when all members arrive at 0.
  double alone_s(const AlphaBetaGamma& costs, std::size_t members) const;
  /// Shows all spans and messages before `until`, each member's spans in the order of time. Returns the time until
  /// which nothing is missing.
  virtual double show(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
                      TimingObserver& observer) const = 0;
  /// Whether its time is a steady function of the links' shares. Else the collective goes message by message where its
  /// transfers share links.
  virtual bool may_share_links() const { return true; }
  /// Whether each hop's own latency and bandwidth decide, and not the slowest hop's, so that predictions need its
  /// routes.
  virtual bool pays_by_hop() const { return false; }
  /// Whether a member may send to two others at a time, and receive from two.
  virtual bool goes_two_ways() const { return false; }
  /// Whether its members' times are right where the costs name deaths.
  virtual bool knows_deaths() const { return false; }
  /// Whether its time is that of its transfers. Else nothing else on their links changes it.
  virtual bool follows_links() const { return true; }
  /// Every member's result, from the inputs of all.
  virtual std::vector<values::Tensor> results(std::vector<values::Tensor> brought) const = 0;
};

}  // namespace simgrad::cluster
