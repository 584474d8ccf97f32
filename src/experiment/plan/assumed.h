/// The numbers of a scenario on devices that no data sheet says and no formula gives, and the scenario where they are off.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// The part by which the assumed numbers are taken to be off.
inline constexpr double assumed_off_by = 0.1;

/// What --set takes, on top of the scenario and the run's grid point.
struct AssumedOff {
  std::vector<std::string> worse;
  std::vector<std::string> better;
};

/// All assumed numbers at once, 10 % to the worse and to the better: the efficiency of products (at most 1) and its
/// half size, the bandwidths of memory, host links, NVLink and NICs, those of the topology, and latencies. Peaks,
/// measured times of layers, flops and bytes stay. Nothing where no device computes, where a platform's file says
/// what links do, or where hosts can fail: crashes come at their own times.
std::optional<AssumedOff> assumed_off(const RunPlan& run);

}  // namespace simgrad::experiment
