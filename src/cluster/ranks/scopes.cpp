#include "cluster/ranks/scopes.h"

#include <exception>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/transfer.h"

namespace simgrad::cluster {

using record::TimePart;
using record::Work;

double transfer_start_s(const AnyTransfer* transfer) { return transfer ? transfer->start_s() : -1.0; }

namespace {

/// The part of time that computing is.
TimePart part_of(Work work) {
  switch (work) {
    case Work::gradient:
    case Work::forward:
    case Work::backward:
    case Work::weights:
    case Work::recompute:
      return TimePart::compute_gradient;
    case Work::reduce:
    case Work::average:
      return TimePart::compute_reduction;
    case Work::update:
      return TimePart::compute_update;
    case Work::encode:
      return TimePart::compute_encoding;
    default:
      return TimePart::compute_other;
  }
}

}  // namespace

WithinScope::WithinScope(const Cluster& clock, ActorState* actor, TimePart within)
    : clock_(clock),
      actor_(actor && actor->account().within() == TimePart::wait_other ? actor : nullptr),
      exceptions_(std::uncaught_exceptions()) {
  if (actor_) actor_->set_within(within, clock_.now());
}

WithinScope::~WithinScope() {
  if (actor_ && std::uncaught_exceptions() == exceptions_) actor_->set_within(TimePart::wait_other, clock_.now());
}

BusyScope::BusyScope(const Cluster& clock, ActorState* actor, const SpanLabel& label)
    : BusyScope(clock, actor, part_of(label.work), label) {}

BusyScope::BusyScope(const Cluster& clock, ActorState* actor, TimePart part, const SpanLabel& label)
    : clock_(clock), actor_(actor), exceptions_(std::uncaught_exceptions()) {
  if (!actor_) return;
  const bool communicates = record::activity_of(part) == record::Activity::communicate;
  actor_->enter(communicates ? Account::State::communicating : Account::State::computing, clock_.now(), part);
  Track* const track = actor_->track();
  if (!track) return;
  if (communicates)
    track->transfer(label);
  else
    track->begin(label);
}

BusyScope::~BusyScope() {
  if (actor_ && std::uncaught_exceptions() == exceptions_) actor_->leave(clock_.now());
}

BlockedScope::BlockedScope(const Cluster& clock, ActorState* actor, const BlockedOn& on)
    : clock_(clock), actor_(actor), exceptions_(std::uncaught_exceptions()) {
  if (!actor_) return;
  actor_->enter(Account::State::blocked, clock_.now());
  actor_->blocked_on_ = on;
}

BlockedScope::~BlockedScope() {
  if (!actor_) return;
  const bool thrown = std::uncaught_exceptions() != exceptions_;
  if (thrown) {
    if (actor_->blocked_on_.kind == BlockedOn::Kind::nothing) return;
    transfer_start_s_ = cluster::transfer_start_s(actor_->blocked_on_.transfer);
  }
  if (divided_)
    actor_->account_.leave_collective(clock_.now(), compute_s_, communicate_s_, causes_);
  else if (thrown)  // the actor is killed, and perhaps the one that it waited for is gone
    actor_->account_.leave(clock_.now(), transfer_start_s_);
  else
    actor_->leave(clock_.now(), transfer_start_s_);
  actor_->blocked_on_ = {};
}

}  // namespace simgrad::cluster
