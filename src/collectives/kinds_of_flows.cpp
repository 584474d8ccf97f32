#include "collectives/kinds_of_flows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>

#include "collectives/flow_walk.h"

namespace simgrad::collectives {

namespace {

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return mixed(a + 0x9e3779b97f4a7c15u * mixed(b + 1)); }
std::uint64_t mixed(std::uint64_t a, double b) { return mixed(a, std::bit_cast<std::uint64_t>(b)); }

/// Numbers for signs, in the order of their first places.
std::vector<int> numbered(std::span<const std::uint64_t> signs, std::size_t& kinds) {
  std::unordered_map<std::uint64_t, int> known;
  std::vector<int> numbers;
  numbers.reserve(signs.size());
  for (const std::uint64_t sign : signs)
    numbers.push_back(known.try_emplace(sign, static_cast<int>(known.size())).first->second);
  kinds = known.size();
  return numbers;
}

}  // namespace

void KindsOfFlows::add(const Flow& flow, std::span<const int> links) {
  begins_.push_back(links_.size());
  links_.insert(links_.end(), links.begin(), links.end());
  flows_.push_back(flow);
}

std::span<const int> KindsOfFlows::links_of(std::size_t flow) const {
  const std::size_t end = flow + 1 < begins_.size() ? begins_[flow + 1] : links_.size();
  return std::span(links_).subspan(begins_[flow], end - begins_[flow]);
}

std::vector<double> KindsOfFlows::ends_s() {
  refine();
  make_kinds();
  run();
  std::vector<double> ends;
  ends.reserve(flows_.size());
  for (const int kind : kind_of_flow_) ends.push_back(kinds_[static_cast<std::size_t>(kind)].end_s);
  return ends;
}

void KindsOfFlows::refine() {
  std::vector<std::uint64_t> of_flows, of_links(bandwidths_.size());
  for (const Flow& flow : flows_) of_flows.push_back(mixed(mixed(mixed(0, flow.start_s), flow.bytes), flow.limit));
  std::size_t flow_kinds = 0, link_kinds = 0, before = 0;
  do {
    before = flow_kinds + link_kinds;
    for (std::size_t link = 0; link < of_links.size(); ++link) of_links[link] = mixed(1, bandwidths_[link]);
    for (std::size_t f = 0; f < flows_.size(); ++f)
      for (const int link : links_of(f)) of_links[static_cast<std::size_t>(link)] += mixed(of_flows[f]);
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      std::uint64_t sum = 0;
      for (const int link : links_of(f)) sum += mixed(of_links[static_cast<std::size_t>(link)]);
      of_flows[f] = mixed(of_flows[f], sum);
    }
    kind_of_flow_ = numbered(of_flows, flow_kinds);
    kind_of_link_ = numbered(of_links, link_kinds);
  } while (flow_kinds + link_kinds > before);
}

void KindsOfFlows::make_kinds() {
  const auto kinds_in = [](const std::vector<int>& numbers) {
    return numbers.empty() ? std::size_t{0} : static_cast<std::size_t>(std::ranges::max(numbers)) + 1;
  };
  kinds_.resize(kinds_in(kind_of_flow_));
  for (std::size_t f = 0; f < flows_.size(); ++f) {
    FlowKind& flow_kind = kind(kind_of_flow_[f]);
    flow_kind.flow = flows_[f];
    flow_kind.left = flows_[f].bytes;
  }
  link_kinds_.resize(kinds_in(kind_of_link_));
  find_links_of_kinds();
}

/// One link of each kind counts for all of them.
void KindsOfFlows::find_links_of_kinds() {
  std::vector<std::size_t> one_of(link_kinds_.size());
  for (std::size_t link = 0; link < bandwidths_.size(); ++link) {
    const int number = kind_of_link_[link];
    link_kind(number).bandwidth = bandwidths_[link];
    one_of[static_cast<std::size_t>(number)] = link;
  }
  std::vector<std::map<int, double>> flows_on(link_kinds_.size());
  for (std::size_t f = 0; f < flows_.size(); ++f)
    for (const int link : links_of(f)) {
      const auto of_link = static_cast<std::size_t>(kind_of_link_[static_cast<std::size_t>(link)]);
      if (one_of[of_link] == static_cast<std::size_t>(link)) flows_on[of_link][kind_of_flow_[f]] += 1.0;
    }
  for (std::size_t link = 0; link < link_kinds_.size(); ++link)
    for (const auto& [number, flows] : flows_on[link]) {
      link_kinds_[link].flows.push_back({number, flows});
      kind(number).links.push_back({static_cast<int>(link), flows});
    }
}

void KindsOfFlows::run() {
  std::vector<int> order(kinds_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int number) { return kind(number).flow.start_s; });
  std::size_t begun = 0;
  while (begun < order.size() || !active_.empty()) {
    double now = begun < order.size() ? kind(order[begun]).flow.start_s : std::numeric_limits<double>::infinity();
    for (const int number : active_) now = std::min(now, kind(number).end_s);
    const double until = together_until(now);
    std::erase_if(active_, [&](int number) { return kind(number).end_s <= until; });
    for (; begun < order.size() && kind(order[begun]).flow.start_s <= until; ++begun) {
      FlowKind& begins = kind(order[begun]);
      begins.since_s = begins.flow.start_s;
      if (begins.left > 0.0)
        active_.push_back(order[begun]);
      else
        begins.end_s = begins.flow.start_s;
    }
    share(now);
  }
}

void KindsOfFlows::open_links() {
  open_links_.clear();
  for (const int number : active_)
    for (const Passing& on : kind(number).links) {
      LinkKind& link = link_kind(on.other);
      if (link.open == 0.0) {
        open_links_.push_back(on.other);
        link.left = link.bandwidth;
      }
      link.open += on.flows;
    }
}

void KindsOfFlows::share(double now) {
  open_links();
  for (const int number : active_) kind(number).settled = false;
  std::vector<int> by_limit = active_;
  std::ranges::sort(by_limit, {}, [&](int number) { return kind(number).flow.limit; });
  std::size_t limited = 0;
  // A link's share only grows while others are filled: one that is taken out with an old share goes in again.
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> shares;
  for (const int link : open_links_) shares.emplace(link_kind(link).fair_share(), link);
  while (!shares.empty()) {
    const auto [share, number] = shares.top();
    shares.pop();
    LinkKind& link = link_kind(number);
    if (!(link.open > 0.5)) continue;
    const std::size_t before = limited;
    for (; limited < by_limit.size() && kind(by_limit[limited]).flow.limit <= share; ++limited)
      settle(kind(by_limit[limited]), kind(by_limit[limited]).flow.limit, now);
    if (limited != before || link.fair_share() > share) {
      if (link.open > 0.5) shares.emplace(link.fair_share(), number);
      continue;
    }
    for (const Passing& on : link.flows) settle(kind(on.other), share, now);
  }
  for (const int number : active_) settle(kind(number), kind(number).flow.limit, now);
  for (const int link : open_links_) link_kind(link).open = 0.0;
}

void KindsOfFlows::settle(FlowKind& kind, double rate, double now) {
  if (std::exchange(kind.settled, true)) return;
  for (const Passing& on : kind.links) {
    LinkKind& link = link_kind(on.other);
    link.left -= rate * on.flows;
    link.open -= on.flows;
  }
  constexpr double rounding = 1e-13;
  if (std::abs(rate - kind.rate) <= rounding * kind.rate) return;
  const double at_s = std::max(now, kind.since_s);
  kind.left = std::max(0.0, kind.left - kind.rate * (at_s - kind.since_s));
  kind.since_s = at_s;
  kind.rate = rate;
  kind.end_s = at_s + kind.left / rate;
}

}  // namespace simgrad::collectives
