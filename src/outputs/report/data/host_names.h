/// The ranks behind the names of hosts: "server 0" for "host-8".
#pragma once

#include <map>
#include <string>

#include "record/record.h"

namespace simgrad::outputs::report {

/// Returns the ranks of each host that stands in the cabling: "rank 3", "server 0", "ranks 4 to 7". Hosts of a
/// generated cluster are "host-" and their index. The map is empty if the traffic of a host contradicts its index, as
/// in a platform file with names of its own.
std::map<std::string, std::string> host_names(const record::Record& record);

}  // namespace simgrad::outputs::report
