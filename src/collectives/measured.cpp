#include "collectives/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cluster/ranks/world.h"
#include "collectives/block_work.h"

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
  std::vector<MemberTiming> timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                    const cluster::Until& until) const override {
    BlockWorks works(*schedule_, costs, arrivals);
    const std::vector<Span> rounds = spans(costs, arrivals, works);
    std::vector<MemberTiming> all(arrivals.size(), {.end_s = rounds.back().to_s});
    for (std::size_t m = 0; m < all.size(); ++m)
      for (const auto& [from_s, to_s] : rounds) all[m].communicate_s += until.part_s(static_cast<int>(m), from_s, to_s);
    works.end(all);
    return all;
  }
  cluster::SentByPair sent(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const override {
    BlockWorks works(*schedule_, costs, arrivals);
    if (spans(costs, arrivals, works).front().from_s > until) return {};
    return schedule_->sent(costs, std::vector(arrivals.size(), 0.0), uncut);
  }
  /// No message has a time of its own: each member is shown to communicate with its right neighbour all the time.
  double show(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
              cluster::TimingObserver& observer) const override {
    BlockWorks works(*schedule_, costs, arrivals);
    const std::vector<Span> rounds = spans(costs, arrivals, works);
    const double start_s = rounds.front().from_s, end_s = rounds.back().to_s;
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
  struct Span {
    double from_s = 0.0, to_s = 0.0;
  };

  /// The rounds of a ring beside work on blocks, which share the measured time evenly, and through which all members go
  /// together: between them they wait for the work of the slowest. Without such work the collective is one span.
  std::vector<Span> spans(const AlphaBetaGamma& costs, std::span<const double> arrivals, BlockWorks& works) const {
    const Split& split = schedule_->split();
    const auto bytes = static_cast<double>(split.bytes(split.whole()));
    const double takes_s = times_.seconds(which_, static_cast<int>(arrivals.size()), bytes);
    double now = std::ranges::max(arrivals);
    if (costs.block_s.empty()) return {{.from_s = now, .to_s = now + takes_s}};
    std::vector<Span> all;
    for (int round = 0; round < schedule_->rounds(); ++round) {
      for (std::size_t m = 0; m < arrivals.size(); ++m) now = works.begin_s(round, m, now);
      all.push_back({.from_s = now, .to_s = now + takes_s / schedule_->rounds()});
      now = all.back().to_s;
      for (std::size_t m = 0; m < arrivals.size(); ++m) works.over(round, m, now);
    }
    return all;
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
