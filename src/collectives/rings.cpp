#include "collectives/rings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "collectives/lengths.h"
#include "collectives/slice_walk.h"

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::MemberTiming;
using values::Combination;
using values::Tensor;

namespace {

/// One of the rings.
struct Lane {
  std::vector<int> order;  ///< members, by place in the ring
  Stretch part;            ///< of the vector
  RingOfChunks chunks;     ///< of the part
};

/// Forwards what a lane's walk shows, with members in place of places: messages, and spans if asked for.
class LaneObserver final : public cluster::TimingObserver {
 public:
  LaneObserver(const Lane& lane, bool spans, TimingObserver& to) : lane_(lane), spans_(spans), to_(to) {}

  void computes(int place, double from_s, double to_s) override {
    if (spans_) to_.computes(member(place), from_s, to_s);
  }
  void communicates(int place, int peer, std::int64_t bytes, double from_s, double to_s) override {
    if (spans_) to_.communicates(member(place), member(peer), bytes, from_s, to_s);
  }
  void sends(int source, int target, std::int64_t bytes, double start_s, double end_s) override {
    to_.sends(member(source), member(target), bytes, start_s, end_s);
  }
  bool enough() const override { return to_.enough(); }

 private:
  int member(int place) const { return lane_.order[static_cast<std::size_t>(place)]; }

  const Lane& lane_;
  bool spans_;
  TimingObserver& to_;
};

class RingsTiming final : public cluster::CollectiveTiming {
 public:
  RingsTiming(std::vector<Lane> lanes, const Extent& x, std::string_view name, Combination how)
      : lanes_(std::move(lanes)), x_(x), name_(name), how_(how) {}

  std::string_view name() const override { return name_; }
  std::string signature() const override {
    return fmt::format("{} {} of {} on {} rings in {}", name_, x_.length, x_.wire.bytes_per_number, lanes_.size(),
                       lanes_.front().chunks.slices);
  }
  /// Its links are divided among its own rings, and nothing else on them is seen.
  bool follows_links() const override { return false; }
  bool pays_by_hop() const override { return true; }

  /// A member's time is that of the ring that ends last for it, also where only a part of the time counts.
  std::vector<MemberTiming> timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                    const cluster::Until& until) const override {
    const std::vector<std::vector<MemberTiming>> whole = by_lane(costs, arrivals, cluster::Until::never);
    const std::vector<std::vector<MemberTiming>> counted = until.is_never() ? whole : by_lane(costs, arrivals, until);
    std::vector<MemberTiming> all;
    for (std::size_t m = 0; m < arrivals.size(); ++m) {
      std::size_t last = 0;
      for (std::size_t lane = 1; lane < lanes_.size(); ++lane)
        if (whole[lane][m].end_s > whole[last][m].end_s) last = lane;
      all.push_back(counted[last][m]);
    }
    return all;
  }

  cluster::SentByPair sent(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const override {
    cluster::SentByPair all;
    for (const Lane& lane : lanes_)
      for (const auto& [ends, sent] : walk(lane, costs, arrivals, until).sent())
        all[{lane.order[static_cast<std::size_t>(ends.first)], lane.order[static_cast<std::size_t>(ends.second)]}] +=
            sent;
    return all;
  }

  /// Each member's spans are those of one ring: the one that ends last.
  double show(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
              cluster::TimingObserver& observer) const override {
    const auto end_s = [&](const Lane& lane) {
      return cluster::last_end_s(walk(lane, costs, arrivals, until).timings());
    };
    const Lane& last = *std::ranges::max_element(lanes_, {}, end_s);
    double shown_s = until;
    for (const Lane& lane : lanes_) {
      LaneObserver of_lane(lane, &lane == &last, observer);
      shown_s = std::min(shown_s, walk(lane, costs, arrivals, until).show(of_lane));
    }
    return shown_s;
  }

  std::vector<Tensor> results(std::vector<Tensor> brought) const override {
    std::vector<Tensor> parts;
    for (const Lane& lane : lanes_) {
      Stretches stretches;
      std::vector<Tensor> of_lane;
      for (const int member : lane.order)
        of_lane.push_back(stretches.take(brought[static_cast<std::size_t>(member)], lane.part));
      parts.push_back(values::combine_around(how_, of_lane, lane.chunks.split.starts(), 0));
    }
    return std::vector(brought.size(), values::concatenate(parts));
  }

 private:
  /// The times of each ring's members, by member.
  std::vector<std::vector<MemberTiming>> by_lane(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                                 const cluster::Until& until) const {
    std::vector<std::vector<MemberTiming>> all;
    for (const Lane& lane : lanes_) {
      const std::vector<MemberTiming> by_place = walk(lane, costs, arrivals, until).timings();
      std::vector<MemberTiming>& by_member = all.emplace_back(by_place.size());
      for (std::size_t place = 0; place < by_place.size(); ++place)
        by_member[static_cast<std::size_t>(lane.order[place])] = by_place[place];
    }
    return all;
  }

  SliceWalk walk(const Lane& lane, const AlphaBetaGamma& costs, std::span<const double> arrivals,
                 const cluster::Until& until) const {
    std::vector<double> in_order;
    for (const int member : lane.order) in_order.push_back(arrivals[static_cast<std::size_t>(member)]);
    return {lane.chunks, hops(lane, costs), in_order, until.of_members(lane.order)};
  }

  /// The rings add up at the same time, and share a member's speed.
  RingHops hops(const Lane& lane, const AlphaBetaGamma& costs) const {
    const auto rings = static_cast<double>(lanes_.size());
    const std::unordered_map<int, int> hops_on = hops_by_link(costs);
    RingHops hops;
    for (std::size_t place = 0; place < lane.order.size(); ++place) {
      const int from = lane.order[place], to = lane.order[(place + 1) % lane.order.size()];
      hops.seconds_per_flop.push_back(rings * costs.seconds_per_flop[static_cast<std::size_t>(from)]);
      if (!costs.routes) {  // each host's NIC has a hop of every ring in each direction
        hops.latency_s.push_back(costs.latency_s);
        hops.bandwidth_bytes_per_s.push_back(
            std::min(costs.bandwidth_bytes_per_s / rings, costs.flow_limit_bytes_per_s));
        continue;
      }
      const cluster::MemberRoute& route = costs.routes->between(from, to);
      double rate = route.alone_bytes_per_s();
      for (const int link : route.links)
        rate = std::min(rate, route.payload_part * costs.routes->bandwidth(link) / hops_on.at(link));
      hops.latency_s.push_back(route.latency_s);
      hops.bandwidth_bytes_per_s.push_back(rate);
    }
    return hops;
  }

  std::unordered_map<int, int> hops_by_link(const AlphaBetaGamma& costs) const {
    std::unordered_map<int, int> hops_on;
    for (const Lane& lane : lanes_)
      for (std::size_t place = 0; place < lane.order.size() && costs.routes; ++place)
        for (const int link :
             costs.routes->between(lane.order[place], lane.order[(place + 1) % lane.order.size()]).links)
          ++hops_on[link];
    return hops_on;
  }

  std::vector<Lane> lanes_;
  Extent x_;
  std::string_view name_;
  Combination how_;
};

}  // namespace

std::shared_ptr<const cluster::CollectiveTiming> timing_of_rings(std::vector<std::vector<int>> orders, const Extent& x,
                                                                 std::int64_t slices, std::string_view name,
                                                                 Combination how) {
  const Split parts(x, static_cast<int>(orders.size()));
  std::vector<Lane> lanes;
  for (std::vector<int>& order : orders) {
    Lane lane{std::move(order), parts.chunk(static_cast<int>(lanes.size())), {.split = {x, 1}}};
    const auto P = static_cast<int>(lane.order.size());
    const std::int64_t shortest = lane.part.count / P;
    lane.chunks = {.split = Split({lane.part.count, x.wire}, P),
                   .first = 0,
                   .rounds = 2 * (P - 1),
                   .reducing = P - 1,
                   .slices = static_cast<int>(std::clamp<std::int64_t>(shortest, 1, slices))};
    lanes.push_back(std::move(lane));
  }
  return std::make_shared<RingsTiming>(std::move(lanes), x, name, how);
}

}  // namespace simgrad::collectives
