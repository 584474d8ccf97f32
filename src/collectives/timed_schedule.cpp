#include "collectives/timed_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/run.h"

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::MemberTiming;
using cluster::SentByPair;
using values::Tensor;

namespace {

/// All members of a schedule, going through it round by round. A transfer starts when both its ends have come to its
/// round; a member comes to the next when both its transfers are over and it has combined what it received.
class Walk {
 public:
  Walk(const Schedule& schedule, const AlphaBetaGamma& costs, std::span<const double> arrivals, double until)
      : schedule_(schedule), costs_(costs), until_(until), timings_(arrivals.size()) {
    for (std::size_t m = 0; m < arrivals.size(); ++m) timings_[m].end_s = arrivals[m];
  }

  std::vector<MemberTiming> timings() {
    for (int round = 0; round < schedule_.rounds() && !all_past_the_cut(); ++round) step(round);
    return std::move(timings_);
  }

  double show(cluster::TimingObserver& observer) {
    observer_ = &observer;
    for (int round = 0; round < schedule_.rounds() && !all_past_the_cut(); ++round) {
      if (observer.enough()) return std::ranges::min(timings_, {}, &MemberTiming::end_s).end_s;
      step(round);
    }
    return until_;
  }

  SentByPair loads() {
    SentByPair loads;
    loads_ = &loads;
    timings();
    return loads;
  }

 private:
  bool all_past_the_cut() const {
    return std::all_of(timings_.begin(), timings_.end(), [&](const MemberTiming& p) { return p.end_s > until_; });
  }

  /// The part of a span that lies before the cut.
  double until_cut(double from, double to) const { return from < until_ ? std::min(to, until_) - from : 0.0; }

  void step(int round) {
    before_ = timings_;
    for (std::size_t m = 0; m < timings_.size(); ++m) {
      const Exchange turn = schedule_.exchange(round, static_cast<int>(m));
      MemberTiming& p = timings_[m];
      if (turn.source >= 0) {
        const double start = start_with(m, turn.source);
        p.end_s = start + costs_.transfer_s(bytes(turn.received));
        p.communicate_s += until_cut(start, p.end_s);
        if (observer_ && start < until_)
          observer_->communicates(static_cast<int>(m), turn.source, bytes(turn.received), start,
                                  std::min(p.end_s, until_));
      }
      if (turn.target >= 0) {
        // The end of its own send may come after what it receives.
        const double start = start_with(m, turn.target);
        const double end = std::max(p.end_s, start + costs_.transfer_s(bytes(turn.sent)));
        const double from = turn.source >= 0 ? std::max(p.end_s, start) : start;
        p.communicate_s += until_cut(std::min(from, end), end);
        if (observer_ && start < until_) {
          observer_->sends(static_cast<int>(m), turn.target, bytes(turn.sent), start,
                           std::min(start + costs_.transfer_s(bytes(turn.sent)), until_));
          if (from < until_)
            observer_->communicates(static_cast<int>(m), turn.target, bytes(turn.sent), from, std::min(end, until_));
        }
        p.end_s = end;
        if (loads_ && start <= until_) {
          auto& load = (*loads_)[{static_cast<int>(m), turn.target}];
          load.bytes += bytes(turn.sent);
          ++load.messages;
        }
      }
      if (turn.source >= 0 && turn.reduce) {
        const double combined = p.end_s + static_cast<double>(turn.received.count) * costs_.seconds_per_flop[m];
        p.compute_s += until_cut(p.end_s, combined);
        if (observer_ && p.end_s < until_)
          observer_->computes(static_cast<int>(m), p.end_s, std::min(combined, until_));
        p.end_s = combined;
      }
    }
  }

  std::int64_t bytes(const Stretch& stretch) const { return schedule_.split().bytes(stretch); }

  double start_with(std::size_t m, int peer) const {
    return std::max(before_[m].end_s, before_[static_cast<std::size_t>(peer)].end_s);
  }

  const Schedule& schedule_;
  const AlphaBetaGamma& costs_;
  double until_;
  std::vector<MemberTiming> timings_;
  std::vector<MemberTiming> before_;
  SentByPair* loads_ = nullptr;
  cluster::TimingObserver* observer_ = nullptr;
};

/// What a meeting needs to know of a schedule.
class ScheduledCourse : public cluster::CollectiveTiming {
 public:
  ScheduledCourse(std::shared_ptr<const JointSchedule> schedule, values::Combination how)
      : schedule_(std::move(schedule)), how_(how) {}

  std::string_view name() const override { return schedule_->name(); }
  std::string signature() const override {
    const Split& split = schedule_->split();
    std::string text = fmt::format("{} {} of {}", schedule_->name(), split.length(), split.wire().bytes_per_number);
    if (split.even()) return text;
    for (int k = 0; k < split.chunks(); ++k) text += fmt::format(" {}", split.chunk(k).count);
    return text;
  }
  std::vector<MemberTiming> timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                    double until) const override {
    return schedule_->timings(costs, arrivals, until);
  }
  SentByPair loads(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const override {
    return schedule_->loads(costs, arrivals, until);
  }
  double show(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
              cluster::TimingObserver& observer) const override {
    return Walk(*schedule_, costs, arrivals, until).show(observer);
  }
  std::vector<Tensor> results(std::vector<Tensor> brought) const override {
    return schedule_->results(std::move(brought), how_);
  }

 private:
  std::shared_ptr<const JointSchedule> schedule_;
  values::Combination how_;
};

}  // namespace

Tensor JointSchedule::by_messages(const cluster::Communicator& comm, Tensor x, values::Combination how) const {
  return run(comm, *this, std::move(x), how).tensor;
}

std::vector<MemberTiming> JointSchedule::timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                                 double until) const {
  return Walk(*this, costs, arrivals, until).timings();
}

SentByPair JointSchedule::loads(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const {
  return Walk(*this, costs, arrivals, until).loads();
}

Tensor run_collective(const cluster::Communicator& comm,
                      const std::function<std::shared_ptr<const JointSchedule>()>& make, Tensor x,
                      values::Combination how) {
  if (comm.size() == 1) return x;
  if (comm.may_compute())
    return comm.compute_together([&] { return std::make_shared<ScheduledCourse>(make(), how); }, std::move(x));
  const std::shared_ptr<const JointSchedule> schedule = make();
  cluster::CollectiveLog::Calls& calls =
      comm.collective(schedule->name(), x.size_bytes(), [&](const AlphaBetaGamma& costs) {
        return ScheduledCourse(schedule, how).alone_s(costs, static_cast<std::size_t>(comm.size()));
      });
  calls.arrive(comm.rank(), comm.now());
  Tensor combined = schedule->by_messages(comm, std::move(x), how);
  calls.leave(comm.rank(), comm.now());
  return combined;
}

Tensor ScheduledAllreduce::combine(const cluster::Communicator& comm, Tensor x, values::Combination how) const {
  const Extent extent(x);
  return run_collective(
      comm, [&] { return schedule(extent, comm.size()); }, std::move(x), how);
}

}  // namespace simgrad::collectives
