#include "cluster/recording/work_scope.h"

#include "cluster/ranks/actor_state.h"
#include "cluster/ranks/communicator.h"

namespace simgrad::cluster {

using record::Work;

namespace {

Track* track_of(const Communicator& communicator) {
  return communicator.actor() ? communicator.actor()->track() : nullptr;
}

}  // namespace

WorkScope::WorkScope(const Communicator& communicator, Work work)
    : communicator_(communicator), track_(track_of(communicator)) {
  if (!track_) return;
  if (track_->within() != Work::idle) {
    track_ = nullptr;
    return;
  }
  record_idle();
  track_->set_within(work);
}

WorkScope::~WorkScope() {
  if (!track_) return;
  record_idle();
  track_->set_within(Work::idle);
}

/// Idle time until now has the name that it had.
void WorkScope::record_idle() const {
  if (track_of(communicator_) == track_ && communicator_.actor()->idle())
    track_->record(record::Activity::wait, communicator_.now());
  track_->rest();
}

}  // namespace simgrad::cluster
