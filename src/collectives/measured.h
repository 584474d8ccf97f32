/// Collectives that take the time that somebody has measured, whatever the network: cluster.collectives.measured.
#pragma once

#include <functional>
#include <memory>

#include "cluster/computed/measured.h"
#include "collectives/timed_schedule.h"

namespace simgrad::collectives {

/// Whether the members' collectives of that kind take measured times.
bool takes_measured(const cluster::Communicator& comm, cluster::Measured which);

/// This member's part: from the last arrival on, all members communicate for as long as was measured for their number
/// and the vector's bytes. Bytes, messages and numbers are those of the schedule.  Errors: std::runtime_error, as
/// MeasuredCollectives::seconds.
values::Tensor run_as_measured(const cluster::Communicator& comm, cluster::Measured which,
                               const std::function<std::shared_ptr<const JointSchedule>()>& make, values::Tensor x,
                               values::Combination how);

/// As run_collective, or as run_as_measured where there is a measured time.
values::Tensor run_or_take_measured(const cluster::Communicator& comm, cluster::Measured which,
                                    const std::function<std::shared_ptr<const JointSchedule>()>& make, values::Tensor x,
                                    values::Combination how = values::Combination::add);

}  // namespace simgrad::collectives
