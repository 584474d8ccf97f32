#include "collectives/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cluster/ranks/world.h"

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::Communicator;
using cluster::Measured;
using cluster::MeasuredCollectives;
using cluster::MemberTiming;
using values::Combination;
using values::Tensor;

namespace {

class MeasuredTiming final : public cluster::CollectiveTiming {
 public:
  MeasuredTiming(const MeasuredCollectives& times, Measured which, std::shared_ptr<const JointSchedule> schedule,
                 Combination how)
      : times_(times),
        which_(which),
        name_(fmt::format("measured {}", cluster::name(which))),
        schedule_(std::move(schedule)),
        how_(how) {}

  std::string_view name() const override { return name_; }
  std::string signature() const override { return fmt::format("{} {}", name_, schedule_->signature()); }
  bool follows_links() const override { return false; }
  std::vector<MemberTiming> timings(const AlphaBetaGamma&, std::span<const double> arrivals,
                                    const cluster::Until& until) const override {
    const auto [start_s, end_s] = span(arrivals);
    std::vector<MemberTiming> all(arrivals.size(), {.end_s = end_s});
    for (std::size_t m = 0; m < all.size(); ++m)
      all[m].communicate_s = until.part_s(static_cast<int>(m), start_s, end_s);
    return all;
  }
  cluster::SentByPair sent(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const override {
    if (span(arrivals).first > until) return {};
    return schedule_->sent(costs, std::vector(arrivals.size(), 0.0), uncut);
  }
  /// No message has a time of its own: each member is shown to communicate with its right neighbour all the time.
  double show(const AlphaBetaGamma&, std::span<const double> arrivals, double until,
              cluster::TimingObserver& observer) const override {
    const auto [start_s, end_s] = span(arrivals);
    const auto members = static_cast<int>(arrivals.size());
    const std::int64_t bytes = schedule_->largest_input();
    for (int m = 0; m < members && start_s < until; ++m)
      observer.communicates(m, (m + 1) % members, bytes, start_s, std::min(end_s, until));
    return until;
  }
  std::vector<Tensor> results(std::vector<Tensor> brought) const override {
    return schedule_->results(std::move(brought), how_);
  }

 private:
  std::pair<double, double> span(std::span<const double> arrivals) const {
    const double start_s = std::ranges::max(arrivals);
    const Split& split = schedule_->split();
    const auto bytes = static_cast<double>(split.bytes(split.whole()));
    return {start_s, start_s + times_.seconds(which_, static_cast<int>(arrivals.size()), bytes)};
  }

  const MeasuredCollectives& times_;
  Measured which_;
  std::string name_;
  std::shared_ptr<const JointSchedule> schedule_;
  Combination how_;
};

}  // namespace

bool takes_measured(const Communicator& comm, Measured which) {
  const MeasuredCollectives* const times = comm.world().measured();
  return times && times->has(which) && comm.size() > 1 && comm.actor();
}

Tensor run_as_measured(const Communicator& comm, Measured which,
                       const std::function<std::shared_ptr<const JointSchedule>()>& make, Tensor x, Combination how) {
  return comm.compute_together(
      [&] { return std::make_shared<MeasuredTiming>(*comm.world().measured(), which, make(), how); }, std::move(x));
}

Tensor run_or_take_measured(const Communicator& comm, Measured which,
                            const std::function<std::shared_ptr<const JointSchedule>()>& make, Tensor x,
                            Combination how) {
  if (takes_measured(comm, which)) return run_as_measured(comm, which, make, std::move(x), how);
  return run_collective(comm, make, std::move(x), how);
}

}  // namespace simgrad::collectives
