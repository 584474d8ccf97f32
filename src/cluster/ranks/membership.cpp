#include "cluster/ranks/membership.h"

#include <fmt/format.h>

#include <set>
#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/computed/computed_collectives.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/messenger.h"
#include "cluster/ranks/peer_lost.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/planned_hosts.h"
#include "cluster/usage/traffic.h"

namespace simgrad::cluster {

PeerLost::PeerLost(int rank) : std::runtime_error(fmt::format("rank {} is lost", rank)), rank_(rank) {}

Membership::Membership(World& world)
    : world_(world), ranks_(world.size()), listeners_(std::make_shared<std::vector<MembershipListener*>>()) {
  for (int rank = 0; rank < ranks_.size(); ++rank)
    ranks_[rank].host_number = static_cast<int>(cluster::host_of_device(world.cluster().options(), world.host(rank)));
}

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

std::vector<int> Membership::ranks_beside(int rank) const {
  std::vector<int> all;
  for (int other = 0; other < ranks_.size(); ++other)
    if (fail_together(other, rank)) all.push_back(other);
  return all;
}

void Membership::crash(int rank) {
  if (!alive(rank) || world_.ended()) return;
  world_.messenger().release_abandoned();
  const std::vector<int> lost = ranks_beside(rank);
  std::set<int> devices;
  for (const int r : lost) devices.insert(world_.host(r));
  for (const int r : lost) world_.computed_collectives().crash(r);
  for (const int r : lost) {
    world_.timekeeper().go_down(r);
    world_.ranks().stopped(r);
    ranks_[r].alive = false;
  }
  for (const int device : devices) world_.messenger().forget_host(device);
  world_.traffic().read_background();  // it breaks with the host, too
  for (const int device : devices) world_.cluster().host(device)->turn_off();
}

void Membership::revive(int rank) {
  if (alive(rank) || world_.ended()) return;
  for (const int r : ranks_beside(rank)) {
    world_.cluster().host(world_.host(r))->turn_on();
    world_.timekeeper().come_up(r);
    world_.computed_collectives().revive(r);
    ranks_[r].alive = true;
  }
}

void Membership::lose(int rank) {
  if (!alive(rank) || world_.ended()) return;
  const std::vector<int> lost = ranks_beside(rank);
  world_.messenger().break_off([&](int r) { return fail_together(r, rank); });
  for (const int r : lost) ++ranks_[r].incarnation;
  for (const int r : lost) {
    ranks_[r].lost_at_s = world_.now();
    ranks_[r].announced = false;
    notify(&MembershipListener::on_crash, r);
  }
  crash(rank);
}

void Membership::announce(int rank) {
  for (const int r : ranks_beside(rank))
    if (!std::exchange(ranks_[r].announced, true)) notify(&MembershipListener::on_detected, r);
}

void Membership::rejoin(int rank) {
  if (alive(rank) || world_.ended()) return;
  announce(rank);
  revive(rank);
  for (const int r : ranks_beside(rank)) {
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
