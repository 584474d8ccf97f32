#include "collectives/block_work.h"

#include "cluster/ranks/block_work_scope.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"

namespace simgrad::collectives {

OwnBlockWork::OwnBlockWork(const cluster::Communicator& comm, int rounds) : comm_(comm) {
  if (const double block_s = cluster::block_s(comm); block_s > 0.0) work_.emplace(block_s, comm.now(), rounds);
}

void OwnBlockWork::wait_to_send(int round) const {
  if (work_) cluster::pause(work_->may_send_s(round) - comm_.now());
}

void OwnBlockWork::has_come(int round) {
  if (work_) work_->has_come(round, comm_.now());
}

void OwnBlockWork::wait_for_end() const {
  if (work_) cluster::pause(work_->end_s(comm_.now()) - comm_.now());
}

}  // namespace simgrad::collectives
