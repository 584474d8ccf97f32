#include "collectives/flat_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "cluster/computed/collective_phases.h"
#include "cluster/recording/work_scope.h"
#include "collectives/flat_walk.h"
#include "collectives/timed_schedule.h"
#include "values/shapes.h"

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::CollectiveTiming;
using cluster::Communicator;
using cluster::MemberTiming;
using values::Tensor;

namespace {

/// The bytes of every chunk's message; an empty chunk has none.
std::int64_t padded_bytes(const Split& split, int chunk) {
  return split.chunk(chunk).count > 0 ? split.bytes(split.largest()) : 0;
}

/// All messages at once. A member waits for what it receives, member by member, and then for what it sends.
class FlatTiming : public CollectiveTiming {
 public:
  FlatTiming(std::string_view name, const Split& split) : split_(split), name_(name) {}

  std::string_view name() const override { return name_; }
  std::string signature() const override {
    return fmt::format("{} {} of {}", name_, split_.length(), split_.wire().bytes_per_number);
  }
  bool pays_by_hop() const override { return true; }

  std::vector<MemberTiming> timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                    const cluster::Until& until) const override {
    if (std::ranges::adjacent_find(arrivals, std::ranges::not_equal_to()) == arrivals.end())
      return timings_together(costs, arrivals, until);
    const FlatWalk walk(costs, arrivals, between());
    std::vector<MemberTiming> all;
    for (std::size_t m = 0; m < arrivals.size(); ++m) all.push_back(timing(walk, arrivals, static_cast<int>(m), until));
    return all;
  }

  cluster::SentByPair sent(const AlphaBetaGamma&, std::span<const double> arrivals, double until) const override {
    cluster::SentByPair all;
    const int P = split_.chunks();
    for (int source = 0; source < P; ++source)
      for (int target = 0; target < P; ++target)
        if (source != target &&
            std::max(arrivals[static_cast<std::size_t>(source)], arrivals[static_cast<std::size_t>(target)]) <= until)
          all.emplace_hint(all.end(), std::pair(source, target), cluster::Sent{bytes(source, target), 1});
    return all;
  }

  double show(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
              cluster::TimingObserver& observer) const override {
    const FlatWalk walk(costs, arrivals, between());
    const int P = split_.chunks();
    for (int m = 0; m < P; ++m) {
      each_wait(walk, arrivals, m, [&](int source, int target, double from, double to) {
        if (from < until && std::isfinite(from))
          observer.communicates(m, source == m ? target : source, bytes(source, target), from, std::min(to, until));
      });
      for (int target = 0; target < P; ++target)
        if (target != m && walk.start_s(m, target) < until)
          observer.sends(m, target, bytes(m, target), walk.start_s(m, target), std::min(walk.end_s(m, target), until));
    }
    return until;
  }

 protected:
  /// Whose chunk travels.
  virtual int chunk(int source, int target) const = 0;
  const Split& split() const { return split_; }

 private:
  /// The times of members that come together, who need not be walked for again.
  struct Together {
    const cluster::MemberRoutes* routes = nullptr;
    double latency_s = 0.0, bandwidth = 0.0, limit = 0.0;
    std::vector<double> seconds = {};
  };

  std::int64_t bytes(int source, int target) const { return padded_bytes(split_, chunk(source, target)); }
  BytesBetween between() const {
    return [this](int source, int target) { return bytes(source, target); };
  }

  /// Calls visit(source, target, from, to) for each message that blocks the member, from its start on.
  template <class Visit>
  double each_wait(const FlatWalk& walk, std::span<const double> arrivals, int member, const Visit& visit) const {
    double now = arrivals[static_cast<std::size_t>(member)];
    for (const bool receives : {true, false})
      for (int peer = 0; peer < split_.chunks() && std::isfinite(now); ++peer) {
        if (peer == member) continue;
        const int source = receives ? peer : member, target = receives ? member : peer;
        const double end = walk.end_s(source, target);
        if (!(end > now)) continue;
        visit(source, target, std::max(now, walk.start_s(source, target)), end);
        now = end;
      }
    return now;
  }

  MemberTiming timing(const FlatWalk& walk, std::span<const double> arrivals, int member,
                      const cluster::Until& until) const {
    MemberTiming member_timing;
    member_timing.end_s = each_wait(walk, arrivals, member, [&](int, int, double from, double to) {
      member_timing.communicate_s += until.part_s(member, from, to);
    });
    return member_timing;
  }

  std::vector<MemberTiming> timings_together(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                             const cluster::Until& until) const {
    std::vector<MemberTiming> all;
    const std::vector<double>& seconds = seconds_together(costs);
    for (std::size_t m = 0; m < arrivals.size(); ++m) {
      const double end_s = arrivals[m] + seconds[m];
      all.push_back({.end_s = end_s, .communicate_s = until.part_s(static_cast<int>(m), arrivals[m], end_s)});
    }
    return all;
  }

  const std::vector<double>& seconds_together(const AlphaBetaGamma& costs) const {
    if (!together_.seconds.empty() && together_.routes == costs.routes.get() &&
        together_.latency_s == costs.latency_s && together_.bandwidth == costs.bandwidth_bytes_per_s &&
        together_.limit == costs.flow_limit_bytes_per_s)
      return together_.seconds;
    together_ = {costs.routes.get(), costs.latency_s, costs.bandwidth_bytes_per_s, costs.flow_limit_bytes_per_s};
    const int P = split_.chunks();
    const std::vector<double> at_once(static_cast<std::size_t>(P), 0.0);
    const FlatWalk walk(costs, at_once, between());
    for (int m = 0; m < P; ++m) {
      double last = 0.0;
      for (int peer = 0; peer < P; ++peer)
        if (peer != m) last = std::max({last, walk.end_s(m, peer), walk.end_s(peer, m)});
      together_.seconds.push_back(last);
    }
    return together_.seconds;
  }

  Split split_;
  std::string_view name_;
  mutable Together together_;
};

class FlatAllToAll final : public FlatTiming {
 public:
  static constexpr std::string_view called = "flat_all_to_all";
  explicit FlatAllToAll(const Split& split) : FlatTiming(called, split) {}

  std::vector<Tensor> results(std::vector<Tensor> brought) const override {
    const bool shapes = values::are_one_shape(brought);
    std::vector<Tensor> kept;
    for (int r = 0; r < split().chunks(); ++r) {
      const Stretch own = split().chunk(r);
      if (shapes && r > 0 && split().chunk(r - 1).count == own.count) {  // nearly equal chunks have two shapes
        kept.push_back(kept.back());
        continue;
      }
      std::vector<Tensor> chunks;
      for (const Tensor& x : brought) chunks.push_back(values::slice(x, own.first, own.count));
      kept.push_back(values::concatenate(chunks));
    }
    return kept;
  }

 private:
  int chunk(int, int target) const override { return target; }
};

class FlatAllGather final : public FlatTiming {
 public:
  static constexpr std::string_view called = "flat_all_gather";
  explicit FlatAllGather(const Split& split) : FlatTiming(called, split) {}

  std::vector<Tensor> results(std::vector<Tensor> brought) const override {
    const std::size_t members = brought.size();
    return std::vector(members, values::concatenate(brought));
  }

 private:
  int chunk(int source, int) const override { return source; }
};

/// One of both.  sent(member): the chunk that this member sends to another.  own: the one that it keeps.
template <class Flat, class Sent>
Tensor run_flat(const Communicator& comm, const Split& split, const Tensor& x, const Tensor& own, const Sent& sent) {
  const auto make = [&] { return std::make_shared<const Flat>(split); };
  if (comm.may_compute())
    return comm.compute_in_phases([&] { return make()->signature(); },
                                  [&] {
                                    std::vector<int> all(static_cast<std::size_t>(comm.size()));
                                    std::iota(all.begin(), all.end(), 0);
                                    return cluster::CollectivePhases{{{{all, make(), x.size_bytes()}}}};
                                  },
                                  x);
  return record_call(comm, Flat::called, x.size_bytes(), make, [&] {
    std::vector<int> others;
    for (int member = 0; member < comm.size(); ++member)
      if (member != comm.rank()) others.push_back(member);
    std::vector<Tensor> chunks = exchange_at_once(comm, others, [&](std::size_t place) { return sent(others[place]); });
    chunks.insert(chunks.begin() + comm.rank(), own);
    return values::concatenate(chunks);
  });
}

}  // namespace

Tensor flat_all_to_all(const Communicator& comm, const Tensor& vector) {
  if (comm.size() == 1) return vector;
  const Tensor x = comm.on_wire(vector);
  const cluster::WorkScope work_scope(comm, record::Work::all_to_all);
  const Split split(Extent(x), comm.size());
  const auto chunk = [&](int member) { return values::slice(x, split.chunk(member).first, split.chunk(member).count); };
  return run_flat<FlatAllToAll>(comm, split, x, comm.may_compute() ? Tensor() : chunk(comm.rank()), [&](int member) {
    return values::encoded(chunk(member), padded_bytes(split, member));
  });
}

Tensor flat_all_gather(const Communicator& comm, const Tensor& chunk, const Extent& whole) {
  if (comm.size() == 1) return chunk;
  const cluster::WorkScope work_scope(comm, record::Work::all_gather);
  const Split split(whole, comm.size());
  return run_flat<FlatAllGather>(comm, split, chunk, chunk,
                                 [&](int) { return values::encoded(chunk, padded_bytes(split, comm.rank())); });
}

}  // namespace simgrad::collectives
