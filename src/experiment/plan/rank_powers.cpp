#include "experiment/plan/rank_powers.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace simgrad::experiment {

using strategies::RankPower;

namespace {

RankPower power_of(const Settings& settings, int rank) {
  const cluster::Options& cluster = settings.cluster;
  RankPower power{.flops_per_s = cluster.speed(rank), .memory_bytes = std::numeric_limits<double>::infinity()};
  if (const auto at = static_cast<std::size_t>(rank); at < cluster.relative_speeds.size())
    power.relative = cluster.relative_speeds[at];
  const cluster::Device* const device = cluster.device_of(rank);
  if (device) power.device = *device;
  const bool bounds_rows = settings.training.partition->by_speed() &&
                           cluster.workers > settings.parallel.ranks_a_replica();  // which memory bounds instead
  if (bounds_rows || settings.training.memory == training::MemoryCheck::ignore) return power;
  if (cluster.memory_bytes)
    power.memory_bytes = *cluster.memory_bytes;
  else if (device && device->memory_bytes > 0.0)
    power.memory_bytes = device->memory_bytes;
  return power;
}

auto numbers_of(const cluster::Device& device) {
  return std::tuple(device.float64_flops_per_s, device.float32_flops_per_s, device.float16_flops_per_s,
                    device.bfloat16_flops_per_s, device.float8_flops_per_s, device.memory_bandwidth_bytes_per_s,
                    device.large_products(), device.half_size, device.attention_efficiency(), device.float8_share(),
                    device.launch_s);
}

bool alike(const RankPower& a, const RankPower& b) {
  if (a.relative != b.relative || a.memory_bytes != b.memory_bytes) return false;
  if (a.device.has_value() != b.device.has_value()) return false;
  return a.device ? numbers_of(*a.device) == numbers_of(*b.device) : a.flops_per_s == b.flops_per_s;
}

}  // namespace

std::vector<RankPower> rank_powers(const Settings& settings) {
  const strategies::Parallel& parallel = settings.parallel;
  if (parallel.tensor_shares == strategies::TensorShares::equal || parallel.tensor == 1) return {};
  const training::Mesh mesh = parallel.mesh(settings.cluster.workers);
  std::vector<RankPower> all;
  for (int rank = 0; rank < mesh.ranks(); ++rank) all.push_back(power_of(settings, rank));
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    const int first = mesh.group(rank, training::Dimension::tensor).front();
    if (!alike(all[static_cast<std::size_t>(rank)], all[static_cast<std::size_t>(first)])) return all;
  }
  return {};
}

}  // namespace simgrad::experiment
