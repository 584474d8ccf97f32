#include "strategies/automatic/stage_devices.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/device.h"
#include "strategies/automatic/group_messages.h"
#include "strategies/parallel/sharing_ranks.h"
#include "training/program.h"

namespace simgrad::strategies {

using models::Among;
using training::Dimension;
using training::Mesh;
using Then = models::Step::Then;

namespace {

DeviceKind kind_of(const cluster::Cluster& cluster, int rank) {
  const std::vector<double>& relative = cluster.options().relative_speeds;
  const auto place = static_cast<std::size_t>(rank);
  const double nominal = cluster.speed(rank);
  return {.device = cluster.device(rank),
          .nominal_flops_per_s = nominal,
          .flops_per_s = nominal * (place < relative.size() ? relative[place] : 1.0)};
}

double memory_of(const cluster::Cluster& cluster, int rank) {
  if (cluster.options().memory_bytes) return *cluster.options().memory_bytes;
  const cluster::Device* const device = cluster.device(rank);
  return device && device->memory_bytes > 0.0 ? device->memory_bytes : std::numeric_limits<double>::infinity();
}

StageDevices devices_of(const cluster::Cluster& cluster, ConcurrentMessages& messages, const Mesh& mesh,
                        const std::vector<int>& ranks, const Parallel& parallel, const training::Traits& traits) {
  StageDevices stage_devices;
  stage_devices.charges_additions = cluster.options().charge_reductions;
  stage_devices.memory_bytes = std::numeric_limits<double>::infinity();
  for (const int rank : ranks) {
    stage_devices.memory_bytes = std::min(stage_devices.memory_bytes, memory_of(cluster, rank));
    const DeviceKind kind = kind_of(cluster, rank);
    if (std::ranges::find(stage_devices.kinds, kind) == stage_devices.kinds.end()) stage_devices.kinds.push_back(kind);
  }
  const auto shift = [&](std::span<const Dimension> along, int places) {
    return messages.slowest(shifted(mesh, ranks, along, places));
  };
  for (std::size_t k = 0; k < models::kinds_of_shares; ++k) {
    const Dimension along = dimension_of(static_cast<Among>(k));
    const int n = mesh.size(along);
    if (n == 1) continue;
    stage_devices.rings[k] = around_rings(cluster, messages, mesh, ranks, {&along, 1}, std::nullopt);
    for (int places = 1; places < n && along == Dimension::expert; ++places) {
      const MessageCost cost = shift({&along, 1}, places);
      stage_devices.exchanges[k].latency_s += cost.latency_s / (n - 1);
      stage_devices.exchanges[k].s_per_byte += cost.s_per_byte / (n - 1);
    }
  }
  const auto group = [&](const std::vector<Dimension>& along, std::optional<std::int64_t> rings) -> SumGroup {
    const auto members = static_cast<int>(mesh.group(ranks.front(), along).size());
    if (members == 1) return {};
    const MessageCost ring = around_rings(cluster, messages, mesh, ranks, along, rings);
    return {.members = members, .ring = ring, .pairs = slower(ring, shift(along, members / 2))};
  };
  stage_devices.workers = group(parallel.workers_along(traits), traits.rings);
  stage_devices.sharers = group(parallel.sums_along(traits), traits.rings);
  stage_devices.replica = group({Dimension::context, Dimension::expert}, std::nullopt);
  stage_devices.context = group({Dimension::context}, std::nullopt);
  if (mesh.size(Dimension::pipeline) > 1) {
    constexpr std::array pipeline{Dimension::pipeline};
    Messages back = shifted(mesh, ranks, pipeline, 1);
    stage_devices.hop = messages.slowest(back);
    for (auto& [from, to] : back) std::swap(from, to);
    stage_devices.hop = slower(stage_devices.hop, messages.slowest(back));
  }
  return stage_devices;
}

}  // namespace

double DeviceKind::addition_s(double bytes) const {
  return (device ? bytes / 8.0 : 1.0) / flops_per_s;  // a device adds as fast as its memory brings the numbers
}

double StageDevices::additions_s(double numbers, double number_bytes) const {
  double slowest_s = 0.0;
  for (const DeviceKind& kind : kinds) slowest_s = std::max(slowest_s, kind.addition_s(number_bytes));
  return charges_additions ? numbers * slowest_s : 0.0;
}

double StageDevices::ring_sum_s(const MessageCost& ring, double numbers, int n, double number_bytes) const {
  if (n == 1) return 0.0;
  const double chunk = std::ceil(numbers / n);
  return (n - 1) * (2.0 * ring.seconds(chunk * number_bytes) + additions_s(chunk, number_bytes));
}

double StageDevices::fastest_sum_s(const SumGroup& group, double numbers, double number_bytes) const {
  const int n = group.members;
  const double around_s = ring_sum_s(group.ring, numbers, n, number_bytes);
  if (n == 1 || !std::has_single_bit(static_cast<unsigned>(n))) return around_s;
  const double rounds = std::log2(n), once = numbers * (n - 1) / n;  // halved and doubled: all of it but an n-th
  const double halving_s = 2.0 * (rounds * group.pairs.latency_s + once * number_bytes * group.pairs.s_per_byte) +
                           additions_s(once, number_bytes);
  const double doubling_s = rounds * (group.pairs.seconds(numbers * number_bytes) + additions_s(numbers, number_bytes));
  return std::min({around_s, halving_s, doubling_s});
}

double StageDevices::collective_s(Then then, Among among, double numbers, int n, double number_bytes) const {
  const auto k = static_cast<std::size_t>(among);
  if (n == 1 || then == Then::nothing) return 0.0;
  const double chunk = std::ceil(numbers / n);
  const double half = (n - 1) * rings[k].seconds(chunk * number_bytes);  // once around the ring, chunk by chunk
  switch (then) {
    case Then::gather:
      return (n - 1) * rings[k].seconds(numbers * number_bytes);
    case Then::sum_shard:
      return ring_sum_s(rings[k], numbers, n, number_bytes) - half;
    case Then::all_to_all:
    case Then::all_to_all_back:
      return (n - 1) * exchanges[k].seconds(chunk * number_bytes);
    default:
      return ring_sum_s(rings[k], numbers, n, number_bytes);
  }
}

bool alike_in_passes(const StageDevices& a, const StageDevices& b) {
  return a.kinds == b.kinds && a.rings == b.rings && a.exchanges == b.exchanges;
}

std::vector<StageDevices> devices_of_stages(const cluster::Cluster& cluster, ConcurrentMessages& messages,
                                            const Mesh& mesh, const Parallel& parallel,
                                            const training::Traits& traits) {
  std::vector<std::vector<int>> ranks(static_cast<std::size_t>(mesh.size(Dimension::pipeline)));
  for (int rank = 0; rank < mesh.ranks(); ++rank)
    ranks[static_cast<std::size_t>(mesh.place(rank)[Dimension::pipeline])].push_back(rank);
  std::vector<StageDevices> all;
  for (const std::vector<int>& stage_ranks : ranks)
    all.push_back(devices_of(cluster, messages, mesh, stage_ranks, parallel, traits));
  return all;
}

}  // namespace simgrad::strategies
