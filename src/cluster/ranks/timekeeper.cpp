#include "cluster/ranks/timekeeper.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "cluster/fabric/cluster.h"

namespace simgrad::cluster {

using record::TimePart;
using record::TimeParts;

void Timekeeper::begin() {
  const double now = clock_.now();
  for (int r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    rank.state.account_.begin(now, r >= workers_);
    if (Track* const track = rank.state.track()) track->mark_recorded(now);
  }
}

void Timekeeper::follow(int rank, ActorState& side) {
  Rank& self = ranks_[rank];
  const double now = clock_.now();
  // The time in a computed collective is divided when it is over.
  if (side.blocked_on().kind == BlockedOn::Kind::collective)
    side.followed_in_collective_s_ = now;
  else
    side.add_until(now);
  self.state.enter(Account::State::blocked, now);
  self.state.blocked_on_.awaited = &side;
  self.followed = &side;
  side.awaited_since_s_ = now;
  if (Track* const track = side.track()) track->buffer(true, now);
  self.followed_compute_s = side.account_.compute_s();
  self.followed_communicate_s = side.account_.communicate_s();
  self.followed_parts = side.account_.parts();
}

namespace {

/// A collective finds the causes of its waits at its end, also of waits before somebody followed: where a cause has
/// less than it had then, the largest ones have too much.
void keep_positive(TimeParts& parts) {
  double missing_s = 0.0;
  for (std::size_t k = 0; k < record::time_parts; ++k)
    if (double& seconds = parts[static_cast<TimePart>(k)]; seconds < 0.0) missing_s -= std::exchange(seconds, 0.0);
  while (missing_s > 0.0) {
    TimePart most = record::first_part(record::Activity::wait);
    for (auto k = static_cast<std::size_t>(most); k < static_cast<std::size_t>(TimePart::down); ++k)
      if (parts[static_cast<TimePart>(k)] > parts[most]) most = static_cast<TimePart>(k);
    const double taken_s = std::min(missing_s, parts[most]);
    if (!(taken_s > 0.0)) return;
    parts[most] -= taken_s;
    missing_s -= taken_s;
  }
}

}  // namespace

void Timekeeper::settle(Rank& rank) {
  ActorState* const side = rank.followed;
  if (!side) return rank.state.settle(clock_.now());
  const double now = clock_.now();
  // A collective that nobody divides, in a run that is given up, is a wait from its beginning.
  if (const std::optional<double>& followed_s = side->followed_in_collective_s_)
    rank.followed_parts[side->account_.within()] += std::max(0.0, *followed_s - side->account_.since_s());
  side->settle(now);
  side->followed_in_collective_s_.reset();
  side->awaited_since_s_ = std::numeric_limits<double>::infinity();
  if (Track* const track = side->track()) {
    if (rank.state.track()) rank.state.track()->record(track->buffered(now));
    track->buffer(false, now);
  }
  rank.followed = nullptr;
  TimeParts parts;
  for (std::size_t k = 0; k < record::time_parts; ++k) {
    const auto part = static_cast<TimePart>(k);
    parts[part] = side->account_.parts()[part] - rank.followed_parts[part];
  }
  keep_positive(parts);
  Account& account = rank.state.account_;
  account.leave_followed(now, side->account_.compute_s() - rank.followed_compute_s,
                         side->account_.communicate_s() - rank.followed_communicate_s, parts,
                         side->past(account.since_s(), now));
  rank.state.blocked_on_.awaited = nullptr;
}

void Timekeeper::close_all(TimePart from_now_on) {
  const ActorState* lost = nullptr;
  for (const Rank& rank : ranks_)
    if (!lost && rank.state.account_.state() == Account::State::down) lost = &rank.state;
  for (Rank& rank : ranks_) {
    if (rank.state.blocked_on_.receives_from_anybody() && !rank.state.blocked_on_.awaited)
      rank.state.blocked_on_.awaited = lost;
    settle(rank);
    if (rank.state.account_.state() != Account::State::down) rank.state.leave(clock_.now());
    rank.state.blocked_on_ = {};
    rank.state.account_.set_within(from_now_on);
  }
}

void Timekeeper::go_down(int rank) {
  Rank& self = ranks_[rank];
  settle(self);
  self.state.enter(Account::State::down, clock_.now());
  self.state.account_.set_within(TimePart::wait_recovery);
  if (Track* const track = self.state.track()) track->begin({.work = record::Work::crash});
  self.state.blocked_on_ = {};
}

void Timekeeper::come_up(int rank) { ranks_[rank].state.leave(clock_.now()); }

void Timekeeper::await_recovery(int rank) {
  ActorState& state = ranks_[rank].state;
  state.set_within(TimePart::wait_recovery, clock_.now());
  if (Track* const track = state.track()) {  // the wait is no part of the work that the rank was in
    track->set_within(record::Work::idle);
    track->rest();
  }
}

void Timekeeper::begin_work(int rank) { ranks_[rank].state.set_within(TimePart::wait_other, clock_.now()); }

void Timekeeper::enter_collective(ActorState& actor) {
  actor.enter(Account::State::blocked, clock_.now());
  actor.blocked_on_ = {.kind = BlockedOn::Kind::collective};
}

void Timekeeper::leave_collective(ActorState& actor, double compute_s, double communicate_s, const TimeParts& causes) {
  cut_collective(actor, compute_s, communicate_s, causes);
  actor.blocked_on_ = {};
}

void Timekeeper::cut_collective(ActorState& actor, double compute_s, double communicate_s, const TimeParts& causes) {
  actor.account_.leave_collective(clock_.now(), compute_s, communicate_s, causes);
}

void Timekeeper::break_off(ActorState& actor, const Account& account) {
  Track* const track = actor.track();
  actor.account_ = account;
  actor.account_.record_on(track);
  actor.blocked_on_ = {};
}

void Timekeeper::went_by_before(int rank, double compute_s, double communicate_s, const TimeParts& causes) {
  Rank& self = ranks_[rank];
  self.followed_compute_s += compute_s;
  self.followed_communicate_s += communicate_s;
  self.followed_parts += causes;
  self.followed_parts[TimePart::compute_reduction] += compute_s;
  self.followed_parts[TimePart::communicate_transfer] += communicate_s;
  self.followed->followed_in_collective_s_.reset();
}

SinceCollective Timekeeper::since_collective(int rank) {
  Rank& self = ranks_[rank];
  // The time of a rank that follows, or is in a collective, is added when it goes on.
  if (self.followed || self.state.blocked_on().kind == BlockedOn::Kind::collective)
    return self.state.account().since_collective();
  return self.state.since_collective(clock_.now());
}

FollowScope::FollowScope(Timekeeper& timekeeper, int rank, ActorState& side)
    : timekeeper_(timekeeper), rank_(rank), exceptions_(std::uncaught_exceptions()) {
  timekeeper_.follow(rank_, side);
}

FollowScope::~FollowScope() {
  if (std::uncaught_exceptions() == exceptions_) timekeeper_.settle(timekeeper_.ranks_[rank_]);
}

}  // namespace simgrad::cluster
