/// Collectives in which no member finishes before all have arrived: by messages, or computed at the last arrival.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "cluster/ranks/communicator.h"
#include "collectives/allreduce.h"
#include "collectives/schedule.h"

namespace simgrad::collectives {

/// A schedule of that kind. In every round a member sends to at most one and receives from at most one, so that on a
/// network that does not block every transfer has its route for itself. One that goes two ways does so on each.
class JointSchedule : public Schedule {
 public:
  using Schedule::Schedule;

  virtual std::string_view name() const = 0;
  /// As CollectiveTiming::signature.
  virtual std::string signature() const;
  /// Every member's result, combined in the order in which the messages would combine it.
  virtual std::vector<values::Tensor> results(std::vector<values::Tensor> brought, values::Combination how) const = 0;
  // As the functions of CollectiveTiming.

  virtual bool may_share_links() const { return true; }
  virtual bool pays_by_hop() const { return false; }
  /// One member's part, message by message.
  virtual values::Tensor by_messages(const cluster::Communicator& comm, values::Tensor x,
                                     values::Combination how) const;
  /// Each member's end, round by round; see cluster::CollectiveTiming.
  virtual std::vector<cluster::MemberTiming> timings(const cluster::AlphaBetaGamma& costs,
                                                     std::span<const double> arrivals,
                                                     const cluster::Until& until) const;
  virtual cluster::SentByPair sent(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                                   double until) const;
  virtual double show(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
                      cluster::TimingObserver& observer) const;
};

/// An allreduce that is such a schedule.
class ScheduledAllreduce : public Allreduce {
 public:
  virtual std::shared_ptr<const JointSchedule> schedule(const Extent& x, int P) const = 0;
  values::Tensor combine(const cluster::Communicator& comm, values::Tensor x, values::Combination how) const override;
  std::shared_ptr<const cluster::CollectiveTiming> timing(const cluster::Communicator& comm, const Extent& x,
                                                          values::Combination how) const override;
  bool is_one_collective(const cluster::Communicator& /*comm*/) const final { return true; }
};

/// A schedule's timing, as computed collectives need it.
std::shared_ptr<const cluster::CollectiveTiming> timing_of(std::shared_ptr<const JointSchedule> schedule,
                                                           values::Combination how);

/// This member's part of a collective.  make: its schedule, equal on every member.  x: the stretch that the member
/// brings. Returns the stretch that it keeps.  Virtual time, bytes and numbers are the same by messages and computed.
/// Errors: cluster::PeerLost.
values::Tensor run_collective(const cluster::Communicator& comm,
                              const std::function<std::shared_ptr<const JointSchedule>()>& make, values::Tensor x,
                              values::Combination how = values::Combination::add);

/// Runs a collective by messages, and records when this member calls and when it returns.
/// timing: only asked for once among all members, for its prediction.
values::Tensor record_call(const cluster::Communicator& comm, std::string_view name, std::int64_t bytes,
                           const std::function<std::shared_ptr<const cluster::CollectiveTiming>()>& timing,
                           const std::function<values::Tensor()>& by_messages);

}  // namespace simgrad::collectives
