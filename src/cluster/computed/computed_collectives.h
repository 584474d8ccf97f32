/// Collectives computed at their last arrival instead of message by message.
///
/// Where nobody can finish before everybody has come, and messages do not disturb each other, the algorithm's own
/// recurrence says when each member is through. The members sleep until then: two switches a member instead of two a
/// message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/recording/track.h"
#include "values/tensor.h"

namespace simgrad::cluster {

class World;

/// What messages and reductions cost among the members of a group when nothing contends.
struct AlphaBetaGamma {
  double latency_s = 0.0;
  double bandwidth_bytes_per_s = 1.0;
  std::vector<double> seconds_per_flop;  ///< of each member; zeros where reductions are free

  double flow_limit_bytes_per_s = std::numeric_limits<double>::infinity();

  double transfer_s(std::int64_t bytes) const { return latency_s + flow_s(static_cast<double>(bytes), 1.0); }
  /// Of bytes that so many flows through one link each have to send.
  double flow_s(double bytes, double flows) const {
    return std::max(bytes * flows / bandwidth_bytes_per_s, bytes / flow_limit_bytes_per_s);
  }
};

/// How one member spends its time from its arrival to its end; what is left of it is waiting.
struct MemberTiming {
  double end_s = 0.0;
  double compute_s = 0.0;
  double communicate_s = 0.0;
};

double last_end_s(std::span<const MemberTiming> timings);

/// What has gone from one rank to another.
struct Sent {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
};
using SentByPair = std::map<std::pair<int, int>, Sent>;  ///< by source and target

/// Told what a course does when; members numbered in the group.
class TimingObserver {
 public:
  virtual ~TimingObserver() = default;
  virtual void computes(int member, double from_s, double to_s) = 0;
  /// The member is blocked by a transfer that is under way, in or out.
  virtual void communicates(int member, int peer, std::int64_t bytes, double from_s, double to_s) = 0;
  virtual void sends(int source, int target, std::int64_t bytes, double start_s, double end_s) = 0;
  /// Whether it has seen enough: what happens later than all that has been told need not be.
  virtual bool enough() const = 0;
};

/// One collective as its members go through it. No member is through before all have arrived.
class CollectiveTiming {
 public:
  static constexpr double uncut = std::numeric_limits<double>::infinity();

  virtual ~CollectiveTiming() = default;
  /// Of the algorithm.
  virtual std::string_view name() const = 0;
  /// Equal for courses that send the same: counted together.
  virtual std::string signature() const = 0;
  /// Every member's timing, as far as it lies before `until`.  arrivals: one a member, infinite for who has not come.
  virtual std::vector<MemberTiming> timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                            double until) const = 0;
  /// What the members (numbered in the group) have sent in transfers that started by then.
  virtual SentByPair loads(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const = 0;
  /// When the last one of members that all come at 0 is through.
  double alone_s(const AlphaBetaGamma& costs, std::size_t members) const;
  /// Tells all of it that lies before `until`, each member's in the order of time. Returns until when nothing is
  /// missing.
  virtual double show(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
                      TimingObserver& observer) const = 0;
  /// What every member goes on with, of what all have brought.
  virtual std::vector<values::Tensor> results(std::vector<values::Tensor> brought) const = 0;
};

/// The meetings of a world's ranks.
class ComputedCollectives {
 public:
  using Members = std::shared_ptr<const std::vector<int>>;

  explicit ComputedCollectives(World& world) : world_(world) {}
  ~ComputedCollectives();

  /// In the actor of a member: blocks until its own end.
  values::Tensor attend(const Members& members, int generation, int position,
                        const std::function<std::shared_ptr<const CollectiveTiming>()>& course, values::Tensor brought);

  /// The world ends now: settles the accounts of all who are in a meeting, and counts what has started.
  void cut(double now);
  /// What those do until now who have come to a meeting that is not complete, by world rank; where somebody records.
  struct UnderWay {
    std::map<int, std::vector<Interval>> intervals;
    std::vector<record::Message> messages;
  };
  UnderWay under_way(double now) const;
  /// All who attended are gone.
  void dissolve();
  /// By world ranks: of all meetings that are over, and of those cut.
  const SentByPair& carried();

 private:
  struct Collective;
  struct Group;

  Group& group(const Members& members, int generation);
  void complete(Group& group, const std::shared_ptr<Collective>& meeting);
  void log(const Group& group, int generation, const Collective& meeting);
  void carry(const Group& group, const SentByPair& loads, std::int64_t times);
  void tell(const Group& group, const Collective& meeting);

  World& world_;
  std::map<std::pair<int, std::vector<int>>, std::shared_ptr<Group>> groups_;
  std::map<std::pair<int, const std::vector<int>*>, Group*> known_;  ///< the same, found without looking at the members
  SentByPair carried_;
};

}  // namespace simgrad::cluster
