#include "cluster/ranks/pending.h"

#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <utility>

#include "base/errors.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/membership.h"
#include "cluster/ranks/messenger.h"
#include "cluster/ranks/peer_lost.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

Pending::Pending(const Communicator& communicator, int peer, Message** landing, const ActorState* const* other_end,
                 std::int64_t bytes)
    : communicator_(&communicator),
      landing_(landing),
      other_end_(other_end),
      peer_(peer),
      incarnation_(communicator.world().membership().incarnation(communicator.world_rank(peer))),
      bytes_(bytes) {}

Pending::Pending(Pending&& other) noexcept
    : communicator_(other.communicator_),
      transfer_(std::move(other.transfer_)),
      landing_(std::exchange(other.landing_, nullptr)),
      other_end_(other.other_end_),
      peer_(other.peer_),
      incarnation_(other.incarnation_),
      bytes_(other.bytes_),
      start_s_(other.start_s_) {}

Pending& Pending::operator=(Pending&& other) noexcept {
  std::swap(communicator_, other.communicator_);
  std::swap(transfer_, other.transfer_);
  std::swap(landing_, other.landing_);
  std::swap(other_end_, other.other_end_);
  std::swap(peer_, other.peer_);
  std::swap(incarnation_, other.incarnation_);
  std::swap(bytes_, other.bytes_);
  std::swap(start_s_, other.start_s_);
  return *this;
}

Pending::~Pending() { abandon(); }

void Pending::abandon() {
  if (transfer_) communicator_->world().messenger().abandon(std::exchange(transfer_, {}));
}

/// Blocks until the transfer is over. Errors: PeerLost.
void Pending::block(int peer) {
  bool lost = false;
  {
    World& world = communicator_->world();
    const auto kind = landing_ ? BlockedOn::Kind::receiving : BlockedOn::Kind::sending;
    BlockedScope blocked(world.cluster(), communicator_->actor(),
                         {.kind = kind, .peer = peer, .transfer = &transfer_, .other_end = other_end_});
    if (blocked.track()) {
      const int self = communicator_->world_rank(communicator_->rank());
      blocked.label({landing_ ? world.recording().transfer_work(peer, self, record::Work::receive)
                              : world.recording().transfer_work(self, peer, record::Work::send),
                     peer, bytes_});
    }
    try {
      transfer_.wait(landing_ != nullptr);
    } catch (const simgrid::NetworkFailureException&) {
      lost = true;
    } catch (const simgrid::CancelException&) {
      lost = true;  // the peer's actor died with its host
    }
    start_s_ = transfer_.start_s();
    blocked.started(start_s_);
    const Message* const arrived = landing_ ? *landing_ : nullptr;
    if (blocked.track() && arrived && arrived->channel && !arrived->channel->local)
      blocked.label({blocked.track()->label().work, peer, arrived->packet.bytes()});
  }
  if (lost) communicator_->lose(peer_);
}

void Pending::wait_until(double at_s) {
  World& world = communicator_->world();
  if (!(at_s > world.now())) return;
  const int self = communicator_->world_rank(communicator_->rank()), peer = communicator_->world_rank(peer_);
  BlockedScope blocked(world.cluster(), communicator_->actor(),
                       {.kind = landing_ ? BlockedOn::Kind::receiving : BlockedOn::Kind::sending,
                        .ends_by_itself = true,
                        .peer = peer,
                        .transfer = &transfer_,
                        .other_end = other_end_});
  if (blocked.track())
    blocked.label({landing_ ? world.recording().transfer_work(peer, self, record::Work::receive)
                            : world.recording().transfer_work(self, peer, record::Work::send),
                   peer, bytes_});
  sg4::this_actor::sleep_until(at_s);
  blocked.started(transfer_.start_s());
}

Packet Pending::wait() {
  base::check(under_way(), "a transfer is waited for once");
  World& world = communicator_->world();
  Messenger& messenger = world.messenger();
  const int peer = communicator_->world_rank(peer_);
  const auto lost = [&] { return world.membership().incarnation(peer) != incarnation_; };
  if (lost() && transfer_.start_s() < 0.0) communicator_->lose(peer_);  // nobody will ever take part in it
  block(peer);
  if (lost() && (!landing_ || messenger.never_comes(*landing_))) communicator_->lose(peer_);
  transfer_ = {};
  if (!landing_) return {};
  // Another rank has ended or failed the training at this very moment, and what came in is gone: this actor is about to
  // be killed.
  if (world.ended() || !(*landing_)->channel) sg4::this_actor::exit();
  Packet packet = messenger.take(**landing_);
  messenger.release(std::exchange(landing_, nullptr));
  return packet;
}

std::optional<Packet> Pending::wait_unless_lost() {
  if (!communicator_->world().membership().keeps_going()) return wait();
  try {
    return wait();
  } catch (const PeerLost&) {
    abandon();
    return {};
  }
}

void wait_for_sends(std::vector<Pending>& sends) {
  for (Pending& send : sends)
    if (send.under_way()) send.wait_unless_lost();
  sends.clear();
}

}  // namespace simgrad::cluster
