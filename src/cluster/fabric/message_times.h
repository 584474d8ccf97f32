/// The time of one message of each size under each network model, from the first host to the last worker's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/options.h"

namespace simgrad::cluster {

/// One route, and the times of messages alone on it.
struct MessageTimes {
  std::string route;                   ///< "host 0 to host 3 over nic-0_UP, nic-3_DOWN"
  double latency_s = 0.0;              ///< alpha: the sum of the links'
  double bandwidth_bytes_per_s = 0.0;  ///< B: the least of the links', and what one flow may have
  std::vector<std::int64_t> bytes;
  std::array<std::vector<double>, network_models_count>
      seconds;  ///< by network model, in the order of NetworkModel: of each size
};

/// Simulates the messages, each model in a process of its own. Of the options only the links matter: nothing else
/// disturbs. bytes: multiples of 8.  Errors: base::ScenarioError, as for building the cluster; base::EnvironmentError.
MessageTimes message_times(const Options& options, const std::vector<std::int64_t>& bytes);

}  // namespace simgrad::cluster
