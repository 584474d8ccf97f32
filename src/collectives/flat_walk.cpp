#include "collectives/flat_walk.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "collectives/kinds_of_flows.h"

namespace simgrad::collectives {

namespace {

constexpr double never_s = cluster::CollectiveTiming::uncut;

}  // namespace

FlatWalk::FlatWalk(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals, const BytesBetween& bytes)
    : costs_(costs), arrivals_(arrivals) {
  if (arrivals.size() < 2) return;
  if (all_alike(bytes))
    share_one_link_each(static_cast<double>(bytes(0, 1)));
  else
    share_links(bytes);
}

double FlatWalk::start_s(int source, int target) const {
  return std::max(arrivals_[static_cast<std::size_t>(source)], arrivals_[static_cast<std::size_t>(target)]);
}

double FlatWalk::end_s(int source, int target) const {
  const auto s = static_cast<std::size_t>(source), t = static_cast<std::size_t>(target);
  if (!end_s_.empty()) return end_s_[s * arrivals_.size() + t];
  return end_by_place_[static_cast<std::size_t>(std::max(place_[s], place_[t]))];
}

bool FlatWalk::all_alike(const BytesBetween& bytes) const {
  if (costs_.routes) return false;
  const int P = static_cast<int>(arrivals_.size());
  const std::int64_t first = bytes(0, 1);
  for (int m = 0; m < P; ++m)
    if (bytes(m, m == 0 ? 1 : 0) != first || bytes(m == 0 ? 1 : 0, m) != first) return false;
  return true;
}

/// Each member has a link of its own for each direction. When n members have come, a message that is under way has an
/// end none of whose n - 1 messages has left: of the end that came later all began at once or after it. That end's link
/// is full, and no link has more messages: so each has a rate of B / (n - 1).
void FlatWalk::share_one_link_each(double bytes) {
  const std::size_t P = arrivals_.size();
  std::vector<std::size_t> order(P);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t m) { return arrivals_[m]; });
  place_.resize(P);
  for (std::size_t place = 0; place < P; ++place) place_[order[place]] = static_cast<int>(place);
  const auto comes_s = [&](std::size_t place) { return arrivals_[order[place]] + costs_.latency_s; };
  end_by_place_.assign(P, never_s);
  std::size_t stretch = 1;  // of time: from the coming of that place to the next one's
  for (std::size_t place = 1; place < P && std::isfinite(comes_s(place)); ++place) {
    // The bytes that a message has sent by the end of a stretch follow from those of the message before; ends are in
    // the order of places.
    double left = bytes, now = comes_s(place);
    for (stretch = place;; ++stretch) {
      const double others = static_cast<double>(stretch);
      const double end = now + costs_.flow_s(left, others);
      const double next = stretch + 1 < P ? comes_s(stretch + 1) : never_s;
      if (end <= next) {
        end_by_place_[place] = end;
        break;
      }
      left -=
          std::min((next - now) * costs_.bandwidth_bytes_per_s / others, (next - now) * costs_.flow_limit_bytes_per_s);
      left = std::max(left, 0.0);
      now = next;
    }
  }
}

void FlatWalk::share_links(const BytesBetween& bytes) {
  const int P = static_cast<int>(arrivals_.size());
  end_s_.assign(arrivals_.size() * arrivals_.size(), never_s);
  KindsOfFlows flows;
  std::vector<std::size_t> places;
  for (int source = 0; source < P; ++source)
    for (int target = 0; target < P; ++target) {
      const double start = start_s(source, target);
      if (source == target || !std::isfinite(start)) continue;
      places.push_back(static_cast<std::size_t>(source) * arrivals_.size() + static_cast<std::size_t>(target));
      KindsOfFlows::Flow flow{.bytes = static_cast<double>(bytes(source, target))};
      if (costs_.routes) {
        const cluster::MemberRoute& route = costs_.routes->between(source, target);
        flow.start_s = start + route.latency_s;
        flow.bytes /= route.payload_part;
        flow.limit = route.alone_bytes_per_s() / route.payload_part;
        flows.add(flow, route.links);
      } else {
        flow.start_s = start + costs_.latency_s;
        flow.limit = costs_.flow_limit_bytes_per_s;
        const int ends[] = {2 * source, 2 * target + 1};
        flows.add(flow, ends);
      }
    }
  // A link has its number once it has been asked for.
  if (costs_.routes)
    for (int link = 0; link < costs_.routes->links(); ++link) flows.add_link(costs_.routes->bandwidth(link));
  else
    for (int link = 0; link < 2 * P; ++link) flows.add_link(costs_.bandwidth_bytes_per_s);
  const std::vector<double> ends = flows.ends_s();
  for (std::size_t f = 0; f < places.size(); ++f) end_s_[places[f]] = ends[f];
}

}  // namespace simgrad::collectives
