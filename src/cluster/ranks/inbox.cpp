#include "cluster/ranks/inbox.h"

#include <algorithm>
#include <deque>
#include <simgrid/s4u.hpp>
#include <utility>

#include "base/errors.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

/// What has come in; shared by the server and the actors that listen for it, whichever lives longer.
struct Inbox::Shelf {
  struct Entry {
    Arrival arrival;
    double transfer_start_s = 0.0;
  };
  std::deque<Entry> entries;
  sg4::SemaphorePtr filled = sg4::Semaphore::create(0);
};

Inbox::Inbox(const Communicator& communicator, int first, int count, Losses losses)
    : communicator_(communicator),
      shelf_(std::make_shared<Shelf>()),
      first_(first),
      losses_(losses),
      listeners_(static_cast<std::size_t>(count), -1) {
  const World& world = communicator.world();
  if (world.keeps_going()) {
    membership_listeners_ = world.membership_listeners_;
    membership_listeners_->push_back(this);
  }
  for (int member = first; member < first + count; ++member) {
    if (!world.keeps_going() || communicator.alive(member))
      listen(member);
    else
      on_detected(communicator.world_rank(member));
  }
}

Inbox::~Inbox() {
  if (membership_listeners_) std::erase(*membership_listeners_, static_cast<MembershipListener*>(this));
}

void Inbox::put(const Communicator& communicator, Shelf& shelf, Arrival arrival, double transfer_start_s) {
  shelf.entries.push_back({std::move(arrival), transfer_start_s});
  shelf.filled->release();
  World& world = communicator.world();
  BlockedOn& blocked_on =
      world.ranks_[static_cast<std::size_t>(communicator.world_rank(communicator.rank()))].blocked_on;
  if (blocked_on.kind == BlockedOn::Kind::receiving && blocked_on.peer == BlockedOn::anybody)
    blocked_on.complete = true;
}

void Inbox::listen(int member) {
  listeners_[static_cast<std::size_t>(member - first_)] = communicator_.world().start_side_actor(
      communicator_.world_rank(communicator_.rank()), [shelf = shelf_, comm = communicator_.for_side_actor(), member] {
        for (;;) {
          Pending receiving = comm.start_receive(member);
          Packet packet = receiving.wait();
          put(comm, *shelf, {member, std::move(packet)}, receiving.start_s());
        }
      });
}

std::optional<std::size_t> Inbox::place(int rank) const {
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    if (communicator_.world_rank(first_ + static_cast<int>(i)) == rank) return i;
  return {};
}

void Inbox::on_crash(int rank) {
  if (const auto at = place(rank))
    if (const sg4::ActorPtr listener = sg4::Actor::by_pid(static_cast<aid_t>(listeners_[*at]))) listener->kill();
}

void Inbox::on_detected(int rank) {
  const auto at = place(rank);
  if (!at || losses_ == Losses::untold) return;
  put(communicator_, *shelf_, {.source = first_ + static_cast<int>(*at), .packet = {}, .lost = true}, -1.0);
}

void Inbox::on_rejoin(int rank) {
  if (const auto at = place(rank)) listen(first_ + static_cast<int>(*at));
}

Inbox::Arrival Inbox::next() { return *take({}); }

std::optional<Inbox::Arrival> Inbox::next_until(double virtual_s) {
  const double left_s = virtual_s - communicator_.now();
  if (shelf_->entries.empty() && !(left_s > 0.0)) return {};
  return take(std::max(left_s, 0.0));
}

std::optional<Inbox::Arrival> Inbox::take(std::optional<double> timeout_s) {
  World& world = communicator_.world();
  World::Rank& self = world.ranks_[static_cast<std::size_t>(communicator_.world_rank(communicator_.rank()))];
  self.account.enter(Account::State::blocked, world.now());
  self.blocked_on = {.kind = BlockedOn::Kind::receiving, .complete = timeout_s || !shelf_->entries.empty()};
  self.shows({.work = record::Work::receive});
  if (!timeout_s || !shelf_->entries.empty()) {
    shelf_->filled->acquire();
  } else if (shelf_->filled->acquire_timeout(*timeout_s)) {
    self.account.leave(world.now());
    self.blocked_on = {};
    return {};
  }
  Shelf::Entry entry = std::move(shelf_->entries.front());
  shelf_->entries.pop_front();
  if (self.account.track()) {
    const int source = communicator_.world_rank(entry.arrival.source);
    self.shows({world.work_of(source, self.account.track()->rank(), record::Work::receive), source,
                entry.arrival.packet.bytes()});
  }
  self.account.leave(world.now(), entry.transfer_start_s);
  self.blocked_on = {};
  return std::move(entry.arrival);
}

bool Inbox::compute(double flops) {
  if (!shelf_->entries.empty()) return false;
  World& world = communicator_.world();
  World::Rank& self = world.ranks_[static_cast<std::size_t>(communicator_.world_rank(communicator_.rank()))];
  base::check(!self.shares_cores, "a computation that may be given up shares no cores");
  const double seconds = flops / (world.cluster().speed(self.host) * self.relative_speed);
  if (!(seconds > 0.0)) return true;
  self.account.enter(Account::State::computing, world.now());
  self.shows({.work = record::Work::gradient}, false);
  const bool undisturbed = shelf_->filled->acquire_timeout(world.cluster().duration(self.host, seconds));
  self.account.leave(world.now());
  if (!undisturbed) shelf_->filled->release();  // next() will take it
  return undisturbed;
}

}  // namespace simgrad::cluster
