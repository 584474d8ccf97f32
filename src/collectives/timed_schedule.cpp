#include "collectives/timed_schedule.h"

#include <fmt/format.h>

#include "cluster/computed/collective_log.h"
#include "cluster/computed/network_routes.h"
#include "cluster/ranks/block_work_scope.h"
#include "cluster/ranks/world.h"
#include "collectives/flow_walk.h"
#include "collectives/mortal_walk.h"
#include "collectives/run.h"
#include "collectives/schedule_walk.h"

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::CollectiveTiming;
using cluster::MemberTiming;
using cluster::SentByPair;
using values::Tensor;

namespace {

/// A schedule's timing, as the computed collectives need it.
class ScheduleTiming final : public CollectiveTiming {
 public:
  ScheduleTiming(std::shared_ptr<const JointSchedule> schedule, values::Combination how)
      : schedule_(std::move(schedule)), how_(how) {}

  std::string_view name() const override { return schedule_->name(); }
  std::string signature() const override { return schedule_->signature(); }
  std::vector<MemberTiming> timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                    const cluster::Until& until) const override {
    return schedule_->timings(costs, arrivals, until);
  }
  SentByPair sent(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const override {
    return schedule_->sent(costs, arrivals, until);
  }
  double show(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
              cluster::TimingObserver& observer) const override {
    return schedule_->show(costs, arrivals, until, observer);
  }
  bool may_share_links() const override { return schedule_->may_share_links(); }
  bool pays_by_hop() const override { return schedule_->pays_by_hop(); }
  bool goes_two_ways() const override { return schedule_->goes_two_ways(); }
  bool knows_deaths() const override { return true; }
  std::vector<Tensor> results(std::vector<Tensor> brought) const override {
    return schedule_->results(std::move(brought), how_);
  }

 private:
  std::shared_ptr<const JointSchedule> schedule_;
  values::Combination how_;
};

}  // namespace

std::shared_ptr<const CollectiveTiming> timing_of(std::shared_ptr<const JointSchedule> schedule,
                                                  values::Combination how) {
  return std::make_shared<ScheduleTiming>(std::move(schedule), how);
}

Tensor JointSchedule::by_messages(const cluster::Communicator& comm, Tensor x, values::Combination how) const {
  return run(comm, *this, std::move(x), how).tensor;
}

std::vector<MemberTiming> JointSchedule::timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                                 const cluster::Until& until) const {
  if (costs.deaths) return MortalWalk(*this, costs, arrivals, until).timings();
  if (costs.flows_share_links()) return FlowWalk(*this, costs, arrivals, until).timings();
  return ScheduleWalk(*this, costs, arrivals, until).timings();
}

SentByPair JointSchedule::sent(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const {
  if (costs.deaths) return MortalWalk(*this, costs, arrivals, until).sent();
  if (costs.flows_share_links()) return FlowWalk(*this, costs, arrivals, until).sent();
  return ScheduleWalk(*this, costs, arrivals, until).sent();
}

double JointSchedule::show(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
                           cluster::TimingObserver& observer) const {
  if (costs.deaths) return MortalWalk(*this, costs, arrivals, until).show(observer);
  if (costs.flows_share_links()) return FlowWalk(*this, costs, arrivals, until).show(observer);
  return ScheduleWalk(*this, costs, arrivals, until).show(observer);
}

std::string JointSchedule::signature() const {
  std::string text = fmt::format("{} {} of {}", name(), split().length(), split().wire().bytes_per_number);
  if (split().even()) return text;
  for (int k = 0; k < split().chunks(); ++k) text += fmt::format(" {}", split().chunk(k).count);
  return text;
}

Tensor run_collective(const cluster::Communicator& comm,
                      const std::function<std::shared_ptr<const JointSchedule>()>& make, Tensor x,
                      values::Combination how) {
  if (comm.size() == 1) return x;
  if (comm.may_compute()) return comm.compute_together([&] { return timing_of(make(), how); }, std::move(x));
  const std::shared_ptr<const JointSchedule> schedule = make();
  return record_call(
      comm, schedule->name(), schedule->largest_input(), [&] { return timing_of(schedule, how); },
      [&] { return schedule->by_messages(comm, std::move(x), how); });
}

namespace {

/// The time of a call on an idle network, where all members work as long on a block as this one.
double predicted_s(const cluster::Communicator& comm, const CollectiveTiming& timing, AlphaBetaGamma costs) {
  const auto members = static_cast<std::size_t>(comm.size());
  if (const double block_s = cluster::block_s(comm); block_s > 0.0) costs.block_s.assign(members, block_s);
  if (!timing.pays_by_hop()) return timing.alone_s(costs, members);
  std::vector<int> ranks;
  for (int m = 0; m < comm.size(); ++m) ranks.push_back(comm.world_rank(m));
  cluster::LinkNumbers numbers(comm.world().cluster());
  costs.routes = std::make_shared<cluster::NetworkRoutes>(
      comm.world(), std::make_shared<const std::vector<int>>(std::move(ranks)), numbers);
  return timing.alone_s(costs, members);
}

}  // namespace

Tensor record_call(const cluster::Communicator& comm, std::string_view name, std::int64_t bytes,
                   const std::function<std::shared_ptr<const CollectiveTiming>()>& timing,
                   const std::function<Tensor()>& by_messages) {
  cluster::CollectiveCalls& calls =
      comm.collective(name, bytes, [&](const AlphaBetaGamma& costs) { return predicted_s(comm, *timing(), costs); });
  calls.arrive(comm.rank(), comm.now(), comm.actor());
  Tensor result = by_messages();
  calls.leave(comm.rank(), comm.now(), comm.actor());
  return result;
}

std::shared_ptr<const CollectiveTiming> ScheduledAllreduce::timing(const cluster::Communicator& comm, const Extent& x,
                                                                   values::Combination how) const {
  return timing_of(schedule(x, comm.size()), how);
}

Tensor ScheduledAllreduce::combine(const cluster::Communicator& comm, Tensor x, values::Combination how) const {
  const Extent extent(x);
  return run_collective(
      comm, [&] { return schedule(extent, comm.size()); }, std::move(x), how);
}

}  // namespace simgrad::collectives
