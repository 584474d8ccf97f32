/// A schedule, message by message.
#pragma once

#include "cluster/ranks/communicator.h"
#include "collectives/schedule.h"
#include "values/tensor.h"

namespace simgrad::collectives {

/// This member's part in the schedule.  x: the stretch that the schedule says it brings; a note beside it travels
/// along. Returns the stretch that the schedule says it keeps; no tensor if that is empty. Virtual time: each round as
/// long as its transfers, and a flop a number combined. Errors: cluster::PeerLost.
cluster::Packet run(const cluster::Communicator& comm, const Schedule& schedule, cluster::Packet x,
                    values::Combination how = values::Combination::add);

}  // namespace simgrad::collectives
