#include "collectives/allreduce.h"

#include <utility>

#include "collectives/measured.h"
#include "collectives/ring.h"

namespace simgrad::collectives {

/// Bytes and numbers are those of the algorithm where it is one schedule, else those of a ring.
values::Tensor Allreduce::combined(const cluster::Communicator& comm, values::Tensor x, values::Combination how) const {
  if (!takes_measured(comm, cluster::Measured::allreduce)) return combine(comm, std::move(x), how);
  const Extent extent(x);
  const auto* const scheduled = dynamic_cast<const ScheduledAllreduce*>(this);
  return run_as_measured(
      comm, cluster::Measured::allreduce,
      [&] { return scheduled ? scheduled->schedule(extent, comm.size()) : Ring().schedule(extent, comm.size()); },
      std::move(x), how);
}

}  // namespace simgrad::collectives
