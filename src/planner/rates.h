/// The money and the energy that a candidate's hosts take each second, before anything is simulated.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/candidate.h"

namespace simgrad::planner {

struct Rates {
  std::optional<double> usd_per_s = {};  ///< of all hosts while they are up
  std::optional<double> idle_w = {};     ///< of all hosts and their overhead, if none of them computes
  std::optional<double> busy_w = {};     ///< likewise, if all of them compute
};

/// Nulls where no price says so, and on a platform's file.
Rates rates_of(const Candidate& candidate);
Rates rates_of(const std::vector<record::HostUse>& hosts, const outputs::Prices& prices);

/// The devices in a host: a first device of each class, and how many the host has of that class.
using HostOfDevices = std::vector<std::pair<const record::HostUse*, std::int64_t>>;

/// The hosts of a candidate's workers where hosts have several devices, each a worker, and the spares behind them; else
/// empty.
std::vector<HostOfDevices> hosts_of_devices(const Candidate& candidate);

/// The hosts beside those: all where each worker has a host of its own, else those of servers.
std::vector<const record::HostUse*> other_hosts(const Candidate& candidate);

/// How many hosts have anything of each class. A host of several devices counts once, and so does a spare.
std::map<std::string, std::int64_t> hosts_by_class(const Candidate& candidate);

/// "16 hosts", "16 g5", "8 g5 and 1 c6 on spot", "32 hosts of 8 h100 (256 devices)": the hosts of a candidate by class.
std::string hosts_text(const Candidate& candidate);

}  // namespace simgrad::planner
