/// What went over each link, in all and over time.
#include <algorithm>
#include <cmath>
#include <map>
#include <simgrid/s4u.hpp>

#include "cluster/computed/computed_collectives.h"
#include "cluster/fabric/link_class.h"
#include "cluster/fabric/routes.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

std::vector<sg4::Link*> route_between(const sg4::Host* source, const sg4::Host* target, double* latency_s) {
  std::vector<sg4::Link*> route;
  double latency = 0.0;
  source->route_to(target, route, &latency);
  if (latency_s) *latency_s = latency;
  return route;
}

AlphaBetaGamma World::idle_costs(const std::vector<int>& members) const {
  AlphaBetaGamma costs;
  costs.bandwidth_bytes_per_s = std::numeric_limits<double>::infinity();
  const Options& options = cluster_.options();
  for (std::size_t m = 0; m < members.size(); ++m) {
    const int rank = members[m], next = members[(m + 1) % members.size()];
    const double flops_per_s = cluster_.speed(host(rank)) * relative_speed(rank);
    costs.seconds_per_flop.push_back(options.charge_reductions ? 1.0 / flops_per_s : 0.0);
    if (same_host(rank, next)) continue;
    double latency_s = 0.0;
    for (const sg4::Link* link : route_between(cluster_.host(host(rank)), cluster_.host(host(next)), &latency_s))
      costs.bandwidth_bytes_per_s = std::min(costs.bandwidth_bytes_per_s, cluster_.bandwidth(*link));
    costs.latency_s = std::max(costs.latency_s, latency_s);
  }
  if (options.flow_limit_bytes_per_s) costs.flow_limit_bytes_per_s = *options.flow_limit_bytes_per_s;
  return costs;
}

void World::count_links() {
  // Hash maps have no order to rely on; links are listed in the order of the ranks that first use them.
  std::map<std::pair<int, int>, std::int64_t> carried;
  for (const auto& [key, channel] : channels_) carried[{channel.source, channel.target}] += channel.bytes;
  for (const auto& [ends, load] : computed_collectives_->carried()) carried[ends] += load.bytes;
  std::unordered_map<const sg4::Link*, std::size_t> row;
  const bool on_platform = !cluster_.options().platform.empty();
  const auto use = [&](const sg4::Link* link) -> record::LinkUse& {
    const auto [at, fresh] = row.try_emplace(link, cut_.links.size());
    if (fresh) cut_.links.push_back({link->get_name(), 0, 0.0, link_class(*link, on_platform), {}});
    return cut_.links[at->second];
  };
  for (const auto& [ends, bytes] : carried) {
    if (bytes == 0) continue;
    for (const sg4::Link* link : route_between(cluster_.host(host(ends.first)), cluster_.host(host(ends.second))))
      use(link).bytes += bytes;
  }
  keep_background();
  for (const auto& [ends, bytes] : background_bytes_)
    for (const sg4::Link* link : route_between(cluster_.host(ends.first), cluster_.host(ends.second))) {
      record::LinkUse& its = use(link);
      its.background_bytes = its.background_bytes.value_or(0) + std::llround(bytes);
    }
  if (!(end_s_ > start_s_)) return;
  for (const auto& [link, at] : row) {
    record::LinkUse& its = cut_.links[at];
    its.utilisation = static_cast<double>(its.bytes + its.background_bytes.value_or(0)) /
                      (cluster_.bandwidth(*link) * (end_s_ - start_s_));
  }
  count_bins();
}

void World::keep_in_bins(const Message& message) {
  const double start = message.transfer->get_start_time();
  const double finish = message.transfer->get_finish_time();
  const double end = finish >= start ? finish : now();  // else it is still under way, and counts in full
  bins_->add({host(message.channel->source), host(message.channel->target)}, start, end,
             static_cast<double>(message.packet.bytes()));
  keep_background();
}

/// What other traffic has carried since the last look at it, as if evenly.
void World::keep_background() {
  if (!cluster_.background()) return;
  for (const auto& [ends, total] : cluster_.background()->carried()) {
    const double bytes = total - background_before_[ends];
    const double before = std::exchange(background_bytes_[ends], bytes);
    if (bins_) bins_->add(ends, background_since_s_, now(), bytes - before);
  }
  background_since_s_ = now();
}

void World::count_bins() {
  if (!bins_) return;
  std::map<std::string, std::pair<const sg4::Link*, std::vector<double>>> by_link;
  for (const auto& [ends, bytes] : bins_->bytes())
    for (const sg4::Link* link : route_between(cluster_.host(ends.first), cluster_.host(ends.second))) {
      auto& [its, sums] = by_link[link->get_name()];
      its = link;
      sums.resize(bytes.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) sums[i] += bytes[i];
    }
  const double width = bins_->width_s();
  for (const auto& [name, use] : by_link)
    for (std::size_t i = 0; i < use.second.size() && static_cast<double>(i) * width < end_s_; ++i) {
      const double from = static_cast<double>(i) * width, to = std::min(from + width, end_s_);
      cut_.link_bins.push_back(
          {name, from, to, use.second[i], use.second[i] / (cluster_.bandwidth(*use.first) * (to - from))});
    }
}

}  // namespace simgrad::cluster
