#include "cluster/ranks/actor_state.h"

#include <algorithm>

namespace simgrad::cluster {

using record::TimePart;
using State = Account::State;

void ActorState::add_awaited(double from_s, double to_s, int depth, std::vector<Stretch>& to) const {
  constexpr int deepest = 32;  // ranks that wait for each other in a circle
  const ActorState* const awaited =
      blocked_on_.awaited ? blocked_on_.awaited : (blocked_on_.other_end ? *blocked_on_.other_end : nullptr);
  if (awaited && awaited != this && depth < deepest)
    awaited->add_past(from_s, to_s, depth + 1, to);
  else
    to.push_back({to_s, TimePart::wait_other});
}

void ActorState::add_past(double from_s, double to_s, int depth, std::vector<Stretch>& to) const {
  account_.history().copy(from_s, to_s, to);
  const double since_s = std::max(from_s, account_.since_s());
  if (!(to_s > since_s)) return;
  if (account_.state() == State::waiting && beside_) return beside_->add_past(since_s, to_s, depth + 1, to);
  if (account_.state() != State::blocked) return to.push_back({to_s, account_.present_cause()});
  const double started_s = transfer_start_s(blocked_on_.transfer);
  const double start_s = started_s < 0.0 ? to_s : std::clamp(started_s, since_s, to_s);
  if (start_s > since_s) add_awaited(since_s, start_s, depth, to);
  if (to_s > start_s) to.push_back({to_s, TimePart::wait_transfer});
}

std::vector<Stretch> ActorState::past(double from_s, double to_s) const {
  std::vector<Stretch> all;
  if (to_s > from_s) add_past(from_s, to_s, 0, all);
  return all;
}

std::vector<Stretch> ActorState::causes(double until_s) const {
  std::vector<Stretch> all;
  const double since_s = account_.since_s();
  if (!(until_s > since_s)) return all;
  if (account_.state() == State::blocked) add_awaited(since_s, until_s, 0, all);
  if (account_.state() == State::waiting && beside_) beside_->add_past(since_s, until_s, 0, all);
  return all;
}

void ActorState::settle(double now, double transfer_start_s) {
  account_.settle(now, transfer_start_s, causes(transfer_start_s < 0.0 ? now : std::min(transfer_start_s, now)));
}

void ActorState::add_until(double now) {
  const double start_s = transfer_start_s(blocked_on_.transfer);
  account_.add_until(now, start_s, causes(start_s < 0.0 ? now : std::min(start_s, now)));
}

void ActorState::enter(State state, double now, TimePart part) {
  account_.settle(now, -1.0, causes(now));
  account_.enter(state, now, part);
}

void ActorState::leave(double now, double transfer_start_s) {
  account_.leave(now, transfer_start_s, causes(transfer_start_s < 0.0 ? now : std::min(transfer_start_s, now)));
}

void ActorState::set_within(TimePart within, double now) {
  add_until(now);
  account_.set_within(within);
}

}  // namespace simgrad::cluster
