#include "cluster/ranks/block_work_scope.h"

#include "cluster/ranks/actor_state.h"
#include "cluster/ranks/communicator.h"

namespace simgrad::cluster {

BlockWorkScope::BlockWorkScope(const Communicator& comm, double seconds) : comm_(comm) {
  if (comm.actor()) comm.actor()->set_block_work_s(seconds);
}

BlockWorkScope::~BlockWorkScope() {
  if (comm_.actor()) comm_.actor()->set_block_work_s({});
}

bool carries_blocks(const Communicator& comm) { return comm.actor() && comm.actor()->block_work_s(); }

double block_s(const Communicator& comm) { return comm.actor() ? comm.actor()->block_s() : 0.0; }

}  // namespace simgrad::cluster
