/// Hosts and links that fail, and how the training recovers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/describe.h"
#include "cluster/failures/process.h"
#include "cluster/failures/spot.h"

namespace simgrad::cluster {

enum class Role { worker, server };

/// The host of one rank goes down: the actors of all its ranks die, its transfers break.
struct Crash : base::Described {
  std::int64_t rank = 0;  ///< among those of its role
  Role role = Role::worker;
  double at_s = 0.0;
  std::optional<double> repair_s;  ///< from the crash until the host is back; none: never

  void describe(base::Describer& d) override;
};

enum class Recovery {
  restart,    ///< all ranks wait for the repair, then go on from the last checkpoint
  wait,       ///< all ranks wait for the repair, then go on from the last step that all had completed
  shrink,     ///< the others go on from the last checkpoint at once, with one rank fewer
  elastic,    ///< the others go on from memory at once; a repaired rank joins again
  keep_going  ///< no rank stops: the others go on without the lost rank, and with it once it is back
};
std::string_view name(Recovery recovery);
std::span<const base::Choice> recovery_choices();

struct FailureOptions : base::Described {
  std::vector<Crash> crashes;
  base::Slot<FailureProcess> hosts{failure_processes(), "none"};
  base::Slot<Repair> repair{repairs(), "never"};  ///< the hosts'
  Market market = Market::on_demand;
  SpotMarket spot;
  base::Slot<FailureProcess> links{failure_processes(), "none"};
  base::Slot<Repair> link_repair{repairs(), "constant"};
  double detection_s = 0.1;
  double restart_time_s = 0.0;
  std::int64_t spares = 0;  ///< hosts in reserve for those that are lost
  Recovery recovery = Recovery::restart;

  void describe(base::Describer& d) override;
  /// Whether anything can fail at all.
  bool any() const { return hosts_fail() || links->happens(); }
  bool hosts_fail() const { return !crashes.empty() || of_hosts().happens(); }
  /// The process by which hosts fail.
  const FailureProcess& of_hosts() const {
    return market == Market::spot ? static_cast<const FailureProcess&>(spot) : *hosts;
  }
};

}  // namespace simgrad::cluster
