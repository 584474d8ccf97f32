#include "cluster/recording/work_scope.h"

#include <exception>

#include "cluster/ranks/actor_state.h"
#include "cluster/ranks/communicator.h"

namespace simgrad::cluster {

using record::TimePart;
using record::Work;

namespace {

Track* track_of(const Communicator& communicator) {
  return communicator.actor() ? communicator.actor()->track() : nullptr;
}

/// The cause of waiting that the work is, for its rank and for others; wait_other: none of its own.
TimePart cause_of(Work work) {
  switch (work) {
    case Work::checkpoint:
      return TimePart::wait_checkpoint;
    case Work::restart:
      return TimePart::wait_recovery;
    case Work::turn:
      return TimePart::wait_turn;
    default:
      return TimePart::wait_other;
  }
}

}  // namespace

WorkScope::WorkScope(const Communicator& communicator, Work work)
    : communicator_(communicator), track_(track_of(communicator)), exceptions_(std::uncaught_exceptions()) {
  ActorState* const actor = communicator.actor();
  const TimePart cause = cause_of(work);
  if (actor && cause != TimePart::wait_other && actor->account().within() == TimePart::wait_other) {
    is_cause_ = true;
    actor->set_within(cause, communicator.now());
  }
  if (!track_) return;
  if (track_->within() != Work::idle) {
    track_ = nullptr;
    return;
  }
  record_idle();
  track_->set_within(work);
}

WorkScope::~WorkScope() {
  if (is_cause_ && std::uncaught_exceptions() == exceptions_)  // a killed actor's time is settled already
    communicator_.actor()->set_within(TimePart::wait_other, communicator_.now());
  if (!track_) return;
  record_idle();
  track_->set_within(Work::idle);
}

/// Idle time until now has the name that it had.
void WorkScope::record_idle() const {
  if (track_of(communicator_) == track_ && communicator_.actor()->idle()) {
    communicator_.actor()->tell_cause();
    track_->record(record::Activity::wait, communicator_.now());
    track_->set_cause(TimePart::wait_other);
  }
  track_->rest();
}

MicroBatchScope::MicroBatchScope(const Communicator& communicator, int micro) : communicator_(communicator) {
  if (Track* const track = track_of(communicator)) track->set_micro(micro);
}

MicroBatchScope::~MicroBatchScope() {
  if (Track* const track = track_of(communicator_)) track->set_micro(-1);
}

}  // namespace simgrad::cluster
