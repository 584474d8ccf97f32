#include "cluster/fabric/max_min.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace simgrad::cluster {

MaxMinSharing::MaxMinSharing(std::vector<double> bandwidths, double flow_limit_bytes_per_s)
    : links_(bandwidths.size()), flow_limit_(flow_limit_bytes_per_s) {
  for (std::size_t i = 0; i < bandwidths.size(); ++i) links_[i].bandwidth = bandwidths[i];
}

void MaxMinSharing::add_link(double bandwidth) { links_.emplace_back().bandwidth = bandwidth; }

void MaxMinSharing::set_bandwidth(int link, double bandwidth) {
  links_[static_cast<std::size_t>(link)].bandwidth = bandwidth;
  changed_links_.push_back(link);
}

int MaxMinSharing::add(std::span<const int> links, double limit) {
  int number = 0;
  if (free_.empty()) {
    number = static_cast<int>(flows_.size());
    flows_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  flows_[static_cast<std::size_t>(number)] = {.links = links, .limit = limit};
  for (const int link : links) {
    links_[static_cast<std::size_t>(link)].flows.push_back(number);
    changed_links_.push_back(link);
  }
  return number;
}

void MaxMinSharing::remove(int flow) {
  for (const int link : flows_[static_cast<std::size_t>(flow)].links) {
    std::vector<int>& on_it = links_[static_cast<std::size_t>(link)].flows;
    *std::ranges::find(on_it, flow) = on_it.back();
    on_it.pop_back();
    changed_links_.push_back(link);
  }
  free_.push_back(flow);
}

double MaxMinSharing::fair_share(int link) const {
  const Link& link_state = links_[static_cast<std::size_t>(link)];
  return std::max(link_state.left, 0.0) / link_state.open;
}

void MaxMinSharing::look_around() {
  ++sharing_;
  near_flows_.clear();
  near_links_.clear();
  const auto reach = [&](int number) {
    Link& link = links_[static_cast<std::size_t>(number)];
    if (std::exchange(link.seen, sharing_) == sharing_) return;
    link.left = link.bandwidth;
    link.open = static_cast<int>(link.flows.size());
    near_links_.push_back(number);
  };
  for (const int link : std::exchange(changed_links_, {})) reach(link);
  for (std::size_t i = 0; i < near_links_.size(); ++i)
    for (const int number : links_[static_cast<std::size_t>(near_links_[i])].flows) {
      Flow& flow = flows_[static_cast<std::size_t>(number)];
      if (std::exchange(flow.seen, sharing_) == sharing_) continue;
      flow.settled = false;
      near_flows_.push_back(number);
      for (const int link : flow.links) reach(link);
    }
}

void MaxMinSharing::settle(int flow, double rate) {
  Flow& flow_state = flows_[static_cast<std::size_t>(flow)];
  if (std::exchange(flow_state.settled, true)) return;
  flow_state.next = rate;
  for (const int number : flow_state.links) {
    Link& link = links_[static_cast<std::size_t>(number)];
    link.left -= rate;
    --link.open;
  }
}

std::size_t MaxMinSharing::settle_limited(std::size_t first, double share) {
  for (; first < by_limit_.size(); ++first) {
    const double limit = flows_[static_cast<std::size_t>(by_limit_[first])].limit;
    if (limit > share) break;
    settle(by_limit_[first], limit);
  }
  return first;
}

void MaxMinSharing::fill() {
  const auto limit_of = [&](int flow) { return flows_[static_cast<std::size_t>(flow)].limit; };
  by_limit_ = near_flows_;
  if (!std::ranges::is_sorted(by_limit_, {}, limit_of)) std::ranges::stable_sort(by_limit_, {}, limit_of);
  std::size_t limited = 0;
  // A link's share only grows while others are filled: one that is taken out with an old share goes in again.
  using Entry = std::pair<double, int>;
  const auto later = [](const Entry& a, const Entry& b) { return a > b; };
  std::vector<Entry> heap;
  for (const int link : near_links_)
    if (links_[static_cast<std::size_t>(link)].open > 0) heap.emplace_back(fair_share(link), link);
  std::ranges::make_heap(heap, later);
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, later);
    const auto [share, link] = heap.back();
    heap.pop_back();
    if (links_[static_cast<std::size_t>(link)].open == 0) continue;
    if (const double present = fair_share(link); present > share) {
      heap.emplace_back(present, link);
      std::ranges::push_heap(heap, later);
      continue;
    }
    if (const std::size_t left = settle_limited(limited, share); left != limited) {
      limited = left;
      if (links_[static_cast<std::size_t>(link)].open == 0) continue;
      heap.emplace_back(fair_share(link), link);
      std::ranges::push_heap(heap, later);
      continue;
    }
    for (const int flow : links_[static_cast<std::size_t>(link)].flows) settle(flow, share);
  }
  for (const int flow : near_flows_) settle(flow, limit_of(flow));
}

void MaxMinSharing::share(const std::function<void(int flow, double rate)>& changed) {
  if (changed_links_.empty()) return;
  look_around();
  fill();
  constexpr double rounding = 1e-13;  // of sums over a link's flows
  for (const int number : near_flows_) {
    Flow& flow = flows_[static_cast<std::size_t>(number)];
    if (std::abs(flow.next - flow.rate) <= rounding * flow.rate) continue;
    flow.rate = flow.next;
    changed(number, flow.rate);
  }
}

}  // namespace simgrad::cluster
