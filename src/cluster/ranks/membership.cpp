#include "cluster/ranks/membership.h"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/computed/computed_collectives.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/messenger.h"
#include "cluster/ranks/peer_lost.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/traffic.h"

namespace simgrad::cluster {

PeerLost::PeerLost(int rank) : std::runtime_error(fmt::format("rank {} is lost", rank)), rank_(rank) {}

Membership::Membership(World& world)
    : world_(world), ranks_(world.size()), listeners_(std::make_shared<std::vector<MembershipListener*>>()) {}

Membership::Subscription::Subscription(Listeners listeners, MembershipListener& listener)
    : listeners_(std::move(listeners)), listener_(&listener) {
  listeners_->push_back(listener_);
}

Membership::Subscription::~Subscription() {
  if (listeners_) std::erase(*listeners_, listener_);
}

/// Listeners may come and go while they are notified.
void Membership::notify(void (MembershipListener::*event)(int), int rank) const {
  for (MembershipListener* listener : std::vector(*listeners_)) (listener->*event)(rank);
}

void Membership::crash(int rank) {
  if (!alive(rank) || world_.ended()) return;
  world_.messenger().release_abandoned();
  const int lost = world_.host(rank);
  for (int r = 0; r < ranks_.size(); ++r)
    if (world_.host(r) == lost) world_.computed_collectives().crash(r);
  for (int r = 0; r < ranks_.size(); ++r) {
    if (world_.host(r) != lost) continue;
    world_.timekeeper().go_down(r);
    world_.ranks().stopped(r);
    ranks_[r].alive = false;
  }
  world_.messenger().forget_host(lost);
  world_.traffic().read_background();  // it breaks with the host, too
  world_.cluster().host(lost)->turn_off();
}

void Membership::revive(int rank) {
  if (alive(rank) || world_.ended()) return;
  world_.cluster().host(world_.host(rank))->turn_on();
  for (int r = 0; r < ranks_.size(); ++r) {
    if (!world_.same_host(r, rank)) continue;
    world_.timekeeper().come_up(r);
    world_.computed_collectives().revive(r);
    ranks_[r].alive = true;
  }
}

void Membership::lose(int rank) {
  if (!alive(rank) || world_.ended()) return;
  world_.messenger().break_off([&](int r) { return world_.same_host(r, rank); });
  for (int r = 0; r < ranks_.size(); ++r)
    if (world_.same_host(r, rank)) ++ranks_[r].incarnation;
  for (int r = 0; r < ranks_.size(); ++r) {
    if (!world_.same_host(r, rank)) continue;
    ranks_[r].lost_at_s = world_.now();
    ranks_[r].announced = false;
    notify(&MembershipListener::on_crash, r);
  }
  crash(rank);
}

void Membership::announce(int rank) {
  for (int r = 0; r < ranks_.size(); ++r)
    if (world_.same_host(r, rank) && !std::exchange(ranks_[r].announced, true))
      notify(&MembershipListener::on_detected, r);
}

void Membership::rejoin(int rank) {
  if (alive(rank) || world_.ended()) return;
  announce(rank);
  revive(rank);
  for (int r = 0; r < ranks_.size(); ++r) {
    if (!world_.same_host(r, rank)) continue;
    world_.messenger().rename_mailboxes(r);
    notify(&MembershipListener::on_rejoin, r);
  }
}

void Membership::start_over(int rank) {
  world_.messenger().break_off([&](int r) { return r == rank; });
  ++ranks_[rank].incarnation;
  world_.messenger().rename_mailboxes(rank);
}

}  // namespace simgrad::cluster
