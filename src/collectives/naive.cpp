#include "collectives/naive.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/flat.h"
#include "collectives/shared_link.h"
#include "collectives/split.h"
#include "collectives/timed_schedule.h"

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::Communicator;
using cluster::MemberTiming;
using cluster::SentByPair;
using values::Combination;
using values::Tensor;

namespace {

Tensor by_messages(const Communicator& comm, Tensor x, Combination how) {
  if (comm.rank() == 0) return flat_broadcast(comm, 0, FlatReduce(comm, 0).combine(how, std::move(x))).tensor;
  comm.send(0, std::move(x));
  return flat_broadcast(comm, 0, {}).tensor;
}

/// At the last arrival: member 0's link is shared on the way in by the members that have arrived, on the way out by
/// all.
class NaiveTiming final : public cluster::CollectiveTiming {
 public:
  NaiveTiming(const Extent& x, Combination how) : x_(x), how_(how) {}

  std::string_view name() const override { return "naive"; }
  std::string signature() const override { return fmt::format("naive {} of {}", x_.length, x_.wire.bytes_per_number); }

  std::vector<MemberTiming> timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                    const cluster::Until& until) const override {
    const Times times(*this, costs, arrivals);
    const double end = times.answer + costs.latency_s +
                       costs.flow_s(static_cast<double>(bytes()), static_cast<double>(arrivals.size() - 1));
    std::vector<MemberTiming> all(arrivals.size(), {.end_s = end, .compute_s = 0.0, .communicate_s = 0.0});
    double now = arrivals[0];  // member 0 takes the messages in the order of the members
    for (std::size_t m = 1; m < arrivals.size(); ++m) {
      const int member = static_cast<int>(m);
      all[m].communicate_s =
          until.part_s(member, times.starts[m - 1], times.ends[m - 1]) + until.part_s(member, times.answer, end);
      if (times.ends[m - 1] <= now) continue;
      all[0].communicate_s += until.part_s(0, std::max(now, times.starts[m - 1]), times.ends[m - 1]);
      now = times.ends[m - 1];
    }
    all[0].compute_s = until.part_s(0, times.gathered, times.answer);
    all[0].communicate_s += until.part_s(0, times.answer, end);
    return all;
  }

  SentByPair sent(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const override {
    const Times times(*this, costs, arrivals);
    SentByPair sent;
    for (int m = 1; m < static_cast<int>(arrivals.size()); ++m) {
      if (times.starts[static_cast<std::size_t>(m - 1)] <= until) sent[{m, 0}] = {bytes(), 1};
      if (times.answer <= until) sent[{0, m}] = {bytes(), 1};
    }
    return sent;
  }

  double show(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
              cluster::TimingObserver& observer) const override {
    const Times times(*this, costs, arrivals);
    const double end = times.answer + costs.latency_s +
                       costs.flow_s(static_cast<double>(bytes()), static_cast<double>(arrivals.size() - 1));
    const auto communicates = [&](int member, int peer, double from, double to) {
      if (from < until) observer.communicates(member, peer, bytes(), from, std::min(to, until));
    };
    const auto sends = [&](int source, int target, double from, double to) {
      if (from < until) observer.sends(source, target, bytes(), from, std::min(to, until));
    };
    double now = arrivals[0];
    for (int m = 1; m < static_cast<int>(arrivals.size()); ++m) {
      const double start = times.starts[static_cast<std::size_t>(m - 1)],
                   over = times.ends[static_cast<std::size_t>(m - 1)];
      sends(m, 0, start, over);
      communicates(m, 0, start, over);
      communicates(m, 0, times.answer, end);
      if (over <= now) continue;
      communicates(0, m, std::max(now, start), over);
      now = over;
    }
    if (times.gathered < until) observer.computes(0, times.gathered, std::min(times.answer, until));
    for (int m = 1; m < static_cast<int>(arrivals.size()); ++m) sends(0, m, times.answer, end);
    communicates(0, 1, times.answer, end);
    return until;
  }

  std::vector<Tensor> results(std::vector<Tensor> brought) const override {
    Tensor all = std::move(brought.front());
    for (std::size_t m = 1; m < brought.size(); ++m)
      all = values::combine(how_, all, std::exchange(brought[m], Tensor()));
    return std::vector(brought.size(), all);
  }

 private:
  std::int64_t bytes() const { return x_.wire.bytes(x_.length); }

  struct Times {
    Times(const NaiveTiming& timing, const AlphaBetaGamma& costs, std::span<const double> arrivals) {
      for (const double arrival : arrivals.subspan(1)) starts.push_back(std::max(arrival, arrivals[0]));
      ends = ends_through_one_link(costs, starts, static_cast<double>(timing.bytes()));
      gathered = *std::max_element(ends.begin(), ends.end());
      answer = gathered +
               static_cast<double>(timing.x_.length) * static_cast<double>(ends.size()) * costs.seconds_per_flop[0];
    }
    std::vector<double> starts;  ///< starts of the messages of members 1, 2, ...
    std::vector<double> ends;
    double gathered = 0.0;
    double answer = 0.0;  ///< when the broadcast starts
  };

  Extent x_;
  Combination how_;
};

}  // namespace

Tensor Naive::combine(const Communicator& comm, Tensor x, Combination how) const {
  if (comm.size() == 1) return x;
  const auto timing = [extent = Extent(x), how] { return std::make_shared<NaiveTiming>(extent, how); };
  if (comm.may_compute() && comm.alike_routes() && !comm.hosts_may_fail())
    return comm.compute_together(timing, std::move(x));
  return record_call(comm, "naive", x.size_bytes(), timing, [&] { return by_messages(comm, std::move(x), how); });
}

}  // namespace simgrad::collectives
