/// The ranks behind the names of hosts: "server 0" for "host-8".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "record/record.h"

namespace simgrad::outputs::report {

/// Ranks by number: workers and servers are counted apart.
struct NumberedRanks {
  std::vector<std::int64_t> workers;
  std::vector<std::int64_t> servers;
};
/// Returns "rank 3", "ranks 4 to 7", "ranks 1, 9", "12 ranks", "rank 3, server 0".
std::string text_of(const NumberedRanks& ranks);

/// Returns the ranks of each host that stands in the cabling: "rank 3", "server 0", "ranks 4 to 7". Hosts of a
/// generated cluster are "host-" and their index. The map is empty if the traffic of a host contradicts its index, as
/// in a platform file with names of its own.
std::map<std::string, std::string> host_names(const record::Record& record);

}  // namespace simgrad::outputs::report
