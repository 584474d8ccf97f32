/// Kinds of hosts in one cluster: how many of each, how fast, what they cost and draw.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/describe.h"
#include "cluster/fabric/device.h"

namespace simgrad::cluster {

/// The role of the ranks on the hosts of a class.
enum class HostRole { worker, server };

/// The name of the class of hosts that are in none.
constexpr const char* plain_host_class = "host";

/// One [[cluster.hosts]].
struct HostClass : base::Described {
  std::string name;
  std::int64_t count = 1;
  HostRole role = HostRole::worker;
  std::optional<double> speed_flops_per_s;       ///< none: cluster.speed
  base::Slot<Device> device{devices(), "none"};  ///< none: cluster.device, unless the class has a speed
  std::optional<double> price_dollars_per_hour;  ///< none: that of [prices]
  std::optional<double> idle_watts;
  std::optional<double> busy_watts;

  void describe(base::Describer& d) override;
};

/// The class of a host, or null if it is in none. Hosts 0 .. workers - 1 belong to workers, and are dealt to the
/// workers' classes in order; the hosts behind them belong to servers, and are dealt to the servers' classes.
const HostClass* class_of(std::span<const HostClass> classes, std::int64_t workers, int host);

/// Refuses faults that show only in all classes together: more hosts for workers than there are workers, or a name that
/// is given twice.
void check_host_classes(base::Describer& d, const std::vector<HostClass>& classes, std::int64_t workers);

}  // namespace simgrad::cluster
