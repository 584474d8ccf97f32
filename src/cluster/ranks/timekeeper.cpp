#include "cluster/ranks/timekeeper.h"

#include <exception>

#include "cluster/fabric/cluster.h"

namespace simgrad::cluster {

void Timekeeper::begin() {
  const double now = clock_.now();
  for (Rank& rank : ranks_) {
    rank.state.account_.begin(now);
    if (Track* const track = rank.state.track()) track->mark_recorded(now);
  }
}

void Timekeeper::follow(int rank, ActorState& side) {
  Rank& self = ranks_[rank];
  const double now = clock_.now();
  side.account_.add_until(now, transfer_start_s(side.blocked_on_.transfer));
  self.state.account_.enter(Account::State::blocked, now);
  self.followed = &side;
  if (Track* const track = side.track()) track->buffer(true);
  self.followed_compute_s = side.account_.compute_s();
  self.followed_communicate_s = side.account_.communicate_s();
}

void Timekeeper::settle(Rank& rank) {
  ActorState* const side = rank.followed;
  if (!side) return rank.state.settle(clock_.now());
  side->settle(clock_.now());
  if (Track* const track = side->track()) {
    if (rank.state.track()) rank.state.track()->record(track->buffered());
    track->buffer(false);
  }
  rank.followed = nullptr;
  rank.state.account_.leave_divided(clock_.now(), side->account_.compute_s() - rank.followed_compute_s,
                                    side->account_.communicate_s() - rank.followed_communicate_s);
}

void Timekeeper::close_all() {
  for (Rank& rank : ranks_) {
    settle(rank);
    if (rank.state.account_.state() != Account::State::down) rank.state.account_.leave(clock_.now());
    rank.state.blocked_on_ = {};
  }
}

void Timekeeper::go_down(int rank) {
  Rank& self = ranks_[rank];
  settle(self);
  self.state.account_.enter(Account::State::down, clock_.now());
  if (Track* const track = self.state.track()) track->begin({.work = record::Work::crash});
  self.state.blocked_on_ = {};
}

void Timekeeper::come_up(int rank) { ranks_[rank].state.account_.leave(clock_.now()); }

void Timekeeper::cut_collective(int rank, double compute_s, double communicate_s) {
  ranks_[rank].state.account_.leave_divided(clock_.now(), compute_s, communicate_s);
}

FollowScope::FollowScope(Timekeeper& timekeeper, int rank, ActorState& side)
    : timekeeper_(timekeeper), rank_(rank), exceptions_(std::uncaught_exceptions()) {
  timekeeper_.follow(rank_, side);
}

FollowScope::~FollowScope() {
  if (std::uncaught_exceptions() == exceptions_) timekeeper_.settle(timekeeper_.ranks_[rank_]);
}

}  // namespace simgrad::cluster
