/// The members of each host.
#pragma once

#include <vector>

#include "cluster/ranks/communicator.h"

namespace simgrad::collectives {

/// Devices of one machine are members of one host. Localities may be racks, in which every member is a host of its own.
std::vector<std::vector<int>> hosts_of(const cluster::Communicator& comm);

}  // namespace simgrad::collectives
