/// The time of a schedule whose transfers share links: an event at a time, with max-min fair rates.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "cluster/fabric/max_min.h"
#include "collectives/block_work.h"

namespace simgrad::collectives {

/// Events that are no farther apart happen together, as in SimGrid (surf/precision): transfers that are alike end at
/// times that differ by roundings, and rates need not be found for each.
inline double together_until(double now) { return now + std::max(1e-12, 4e-16 * now); }

/// As a ScheduleWalk, but a transfer over a shared link takes its route's latency, and then as long as its fair share
/// of the links lets it. Such transfers alone are events, in the order of time; before the next event each member goes
/// as far as it can on links of its own. Cost: rounds x members, and for each event the transfers that are connected
/// with it by links. Where ranks are alike, the shared transfers of a round begin together, and are shared out once.
class FlowWalk {
 public:
  FlowWalk(const Schedule& schedule, const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
           const cluster::Until& until);

  // As the functions of cluster::CollectiveTiming; one of them, once.

  std::vector<cluster::MemberTiming> timings();
  cluster::SentByPair sent();
  double show(cluster::TimingObserver& observer);

 private:
  /// A transfer that has not begun, or not ended, has this time.
  static constexpr double not_yet = std::numeric_limits<double>::infinity();

  struct Way {
    int target = Exchange::nobody;
    const cluster::MemberRoute* route = nullptr;
    bool shared = false;  ///< whether one of its links is
  };
  struct Transfer {
    double start_s = not_yet;
    double end_s = not_yet;
  };
  struct Leg {
    Exchange exchange;  ///< its part in the round
    Transfer out, in;   ///< of the round
    Way way;            ///< to its last target
  };
  struct Member {
    int round = -1;           ///< -1: not arrived
    double ready_s = 0.0;     ///< when it came to its round
    std::array<Leg, 2> legs;  ///< the second: beside the first, where the schedule goes two ways
    int open = 0;             ///< transfers of the round that have not ended
  };
  struct Flow {
    std::size_t leg = 0;
    int source = 0;
    int target = 0;
    std::span<const int> links = {};
    double limit = 0.0;    ///< of its rate
    int sharing = -1;      ///< its number where rates are found
    double left = 0.0;     ///< bytes
    double rate = 0.0;     ///< bytes a second
    double since_s = 0.0;  ///< when `left` was right
    unsigned version = 0;  ///< ends that were foreseen under an earlier rate are void
  };
  struct Event {
    enum class Kind : std::int8_t { has_paid_latency, ends };
    double at_s = 0.0;
    Kind kind = Kind::ends;
    int flow = 0;
    unsigned version = 0;
    bool operator>(const Event& other) const { return at_s > other.at_s; }
  };

  /// Returns the time until which everything is known.
  double run();
  bool seen_enough() const { return observer_ && observer_->enough(); }
  void happen(const Event& event);
  void come_all();
  void come(int member);
  const Way& way(std::size_t leg, int source, int target);
  void begin(std::size_t leg, int source, int target);
  void begin_shared(std::size_t leg, int source, int target, const Way& way, double now);
  void pay_latency(int flow, double now);
  void end(int flow, double now);
  void change_rate(int flow, double rate, double now);
  void end(std::size_t leg, int source, int target, double now);
  void close(int member);
  /// Adds the round to the member's time, as far as it went.
  void account(int member);
  void reduce(int member, const Stretch& received);
  std::int64_t bytes(const Stretch& stretch) const { return schedule_.split().bytes(stretch); }
  Leg& leg(std::size_t number, int of) { return member(of).legs[number]; }
  Member& member(int number) { return members_[static_cast<std::size_t>(number)]; }

  const Schedule& schedule_;
  const cluster::AlphaBetaGamma& costs_;
  cluster::Until until_;
  BlockWorks works_;
  std::vector<cluster::MemberTiming> timings_;
  std::vector<Member> members_;
  std::vector<int> coming_;  ///< members that come to their next round
  std::vector<Flow> flows_;
  std::vector<int> free_flows_;
  std::vector<int> flow_of_sharing_;
  cluster::MaxMinSharing sharing_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  cluster::SentByPair* sent_ = nullptr;
  cluster::TimingObserver* observer_ = nullptr;
};

}  // namespace simgrad::collectives
