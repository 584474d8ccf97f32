#include "cluster/ranks/scopes.h"

#include <exception>
#include <simgrid/s4u.hpp>

#include "cluster/fabric/cluster.h"

namespace simgrad::cluster {

double transfer_start_s(const simgrid::s4u::Comm* transfer) { return transfer ? transfer->get_start_time() : -1.0; }

BusyScope::BusyScope(const Cluster& clock, ActorState* actor, Account::State state, const SpanLabel& label)
    : clock_(clock), actor_(actor), exceptions_(std::uncaught_exceptions()) {
  if (!actor_) return;
  actor_->account_.enter(state, clock_.now());
  Track* const track = actor_->track();
  if (!track) return;
  if (state == Account::State::communicating)
    track->transfer(label);
  else
    track->begin(label);
}

BusyScope::~BusyScope() {
  if (actor_ && std::uncaught_exceptions() == exceptions_) actor_->account_.leave(clock_.now());
}

BlockedScope::BlockedScope(const Cluster& clock, ActorState* actor, const BlockedOn& on)
    : clock_(clock), actor_(actor), exceptions_(std::uncaught_exceptions()) {
  if (!actor_) return;
  actor_->account_.enter(Account::State::blocked, clock_.now());
  actor_->blocked_on_ = on;
}

BlockedScope::~BlockedScope() {
  if (!actor_) return;
  if (std::uncaught_exceptions() != exceptions_) {
    if (actor_->blocked_on_.kind == BlockedOn::Kind::nothing) return;
    transfer_start_s_ = cluster::transfer_start_s(actor_->blocked_on_.transfer);
  }
  if (divided_)
    actor_->account_.leave_divided(clock_.now(), compute_s_, communicate_s_);
  else
    actor_->account_.leave(clock_.now(), transfer_start_s_);
  actor_->blocked_on_ = {};
}

}  // namespace simgrad::cluster
