/// The numbers of a scenario on devices that no data sheet says and no formula gives, and the scenario where they are
/// off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// The part by which the assumed numbers are taken to be off.
inline constexpr double assumed_off_by = 0.1;

/// Assumed numbers of one kind, off to one side.
struct AssumedOff {
  std::string name;  ///< "efficiency_worse", "bandwidth_better", ..: one of outputs::assumed_kinds, and the side
  std::vector<std::string> sets;  ///< what --set takes, on top of the scenario and the run's grid point
};

/// Each kind 10 % to the worse, then to the better. The efficiency of devices: that of products (at most 1), its half
/// size, and the bandwidths of memory and host links. The bandwidth and the latency of links: those of NICs, NVLink and
/// the topology. Peaks, measured times of layers, flops and bytes are not assumed. Empty where no device computes,
/// where a platform's file says what links do, or where hosts can fail: crashes come at their own times.
std::vector<AssumedOff> assumed_off(const RunPlan& run);

/// Assumed numbers of one of outputs::assumed_kinds, so many times as good, as --set takes them: a latency becomes
/// shorter, and an efficiency is 1 at most. Empty where the cluster has no such numbers.
std::vector<std::string> assumed_times(const cluster::Options& cluster, std::string_view kind, double factor);

}  // namespace simgrad::experiment
