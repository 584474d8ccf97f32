#include "serving/group.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "base/errors.h"
#include "cluster/computed/idle_costs.h"
#include "cluster/computed/network_routes.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/traffic.h"

namespace simgrad::serving {

using collectives::ScheduledAllreduce;

Group::Group(cluster::World& world, std::vector<int> ranks, const collectives::Allreduce& allreduce,
             values::WireFormat format)
    : world_(world),
      ranks_(std::move(ranks)),
      allreduce_(dynamic_cast<const ScheduledAllreduce*>(&allreduce)),
      format_(format),
      costs_(cluster::idle_costs(world, ranks_)) {
  base::check(allreduce_ != nullptr, "the all-reduce is one schedule");
}

Group::Sum Group::made(std::int64_t numbers) const {
  const auto P = static_cast<int>(ranks_.size());
  auto timing =
      collectives::timing_of(allreduce_->schedule(collectives::Extent(numbers, format_), P), values::Combination::add);
  const double seconds = timing->alone_s(costs_, ranks_.size());
  return {.timing = std::move(timing), .seconds = seconds};
}

Group::Sum& Group::sum(std::int64_t numbers) {
  const auto known = sums_.find(numbers);
  return known != sums_.end() ? known->second : sums_.emplace(numbers, made(numbers)).first->second;
}

double Group::sum_s(std::int64_t numbers, double times) {
  if (ranks_.size() < 2 || numbers == 0 || times == 0.0) return 0.0;
  Sum& group_sum = sum(numbers);
  group_sum.calls += times;
  return times * group_sum.seconds;
}

double Group::spread_s(std::int64_t numbers) {
  if (ranks_.size() < 2) return 0.0;
  spread_bytes_ += format_.bytes(numbers);
  ++spread_calls_;
  return spread_alone_s(numbers);
}

double Group::spread_alone_s(std::int64_t numbers) const {
  const auto rounds = static_cast<double>(std::bit_width(ranks_.size() - 1));
  return rounds * costs_.transfer_s(format_.bytes(numbers));
}

namespace {

/// seconds: of an exchange of so many numbers.
Line line_of(const std::function<double(std::int64_t numbers)>& seconds) {
  constexpr std::int64_t many = std::int64_t{1} << 30;
  const double latency_s = seconds(0);
  return {.latency_s = latency_s, .number_s = (seconds(many) - latency_s) / static_cast<double>(many)};
}

}  // namespace

Line Group::sum_line() const {
  if (ranks_.size() < 2) return {};
  return line_of([&](std::int64_t numbers) { return made(numbers).seconds; });
}

Line Group::spread_line() const {
  if (ranks_.size() < 2) return {};
  return line_of([&](std::int64_t numbers) { return spread_alone_s(numbers); });
}

Line Group::message_line(int target, double number_bytes) const {
  if (world_.same_host(leader(), target)) return {};
  cluster::LinkNumbers links(world_.cluster());
  const cluster::MemberRoute route = cluster::route_of_ranks(world_, leader(), target, links);
  return {.latency_s = route.latency_s, .number_s = number_bytes / route.alone_bytes_per_s()};
}

void Group::post() const {
  cluster::Traffic& traffic = world_.traffic();
  const std::vector<double> together(ranks_.size(), 0.0);
  for (const auto& [numbers, group_sum] : sums_)
    for (const auto& [pair, sent] : group_sum.timing->sent(costs_, together, cluster::CollectiveTiming::uncut))
      traffic.post(ranks_[static_cast<std::size_t>(pair.first)], ranks_[static_cast<std::size_t>(pair.second)],
                   {.bytes = std::llround(static_cast<double>(sent.bytes) * group_sum.calls),
                    .messages = std::llround(static_cast<double>(sent.messages) * group_sum.calls)});
  for (std::size_t member = 1; member < ranks_.size() && spread_calls_ > 0; ++member)
    traffic.post(ranks_[member - std::bit_floor(member)], ranks_[member],
                 {.bytes = spread_bytes_, .messages = spread_calls_});
}

}  // namespace simgrad::serving
