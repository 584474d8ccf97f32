#include "cluster/ranks/communicator.h"

#include <algorithm>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <utility>

#include "base/errors.h"
#include "cluster/computed/computed_collectives.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

Communicator::Communicator(World& world, Members members, int position, int generation)
    : world_(&world),
      members_(std::move(members)),
      position_(position),
      generation_(generation),
      activity_(&world.ranks_[static_cast<std::size_t>(world_rank(position))]) {}

Communicator Communicator::subgroup(std::span<const int> positions) const {
  std::vector<int> chosen;
  int own = -1;
  for (const int position : positions) {
    if (position == position_) own = static_cast<int>(chosen.size());
    chosen.push_back(world_rank(position));
  }
  base::check(own >= 0, "a member makes a part of its group that it is in");
  Communicator smaller(*world_, std::make_shared<const std::vector<int>>(std::move(chosen)), own, generation_);
  smaller.activity_ = activity_;
  smaller.main_ = main_;
  return smaller;
}

Communicator Communicator::for_side_actor(ActorState* activity) const {
  Communicator same(*world_, members_, position_, generation_);
  same.activity_ = activity;
  same.main_ = false;
  return same;
}

Communicator Communicator::on_own_channels() const {
  constexpr int channels_apart = 1 << 15;  // generations are far fewer
  Communicator other(*world_, members_, position_, generation_ | channels_apart);
  other.activity_ = activity_;
  other.main_ = main_;
  return other;
}

namespace {

/// The entry of that peer in a cache sorted by peer, made by `make` if it is not there.
template <class Cache, class Make>
Channel& find_or_make(Cache& cache, int peer, const Make& make) {
  const auto at = std::lower_bound(cache.begin(), cache.end(), peer,
                                   [](const auto& entry, int wanted) { return entry.first < wanted; });
  if (at != cache.end() && at->first == peer) return *at->second;
  Channel& made = make();
  cache.insert(at, {peer, &made});
  return made;
}

}  // namespace

Channel& Communicator::to(int target) const {
  return find_or_make(outgoing_, target, [&]() -> Channel& {
    return world_->channel(generation_, world_rank(position_), world_rank(target));
  });
}

Channel& Communicator::from(int source) const {
  return find_or_make(incoming_, source, [&]() -> Channel& {
    return world_->channel(generation_, world_rank(source), world_rank(position_));
  });
}

void Communicator::require_alive(int member) const {
  if (!world_->alive(world_rank(member))) throw PeerLost(world_rank(member));
}

/// Waits for the transfer; when it started.
double Communicator::block_on(sg4::Comm& transfer, BlockedOn::Kind kind, int peer, Message* const* landing,
                              std::int64_t bytes) const {
  ActorState* const self = activity_;
  const int other = world_rank(peer);
  if (self) {
    self->account.enter(Account::State::blocked, now());
    self->blocked_on = {kind, other, &transfer};
    if (self->account.track())
      self->shows({landing ? world_->work_of(other, world_rank(position_), record::Work::receive)
                           : world_->work_of(world_rank(position_), other, record::Work::send),
                   other, bytes});
  }
  bool lost = false;
  try {
    transfer.wait();
  } catch (const simgrid::NetworkFailureException&) {
    lost = true;
  } catch (const simgrid::CancelException&) {
    lost = true;  // the peer's actor died with its host
  }
  const double start = transfer.get_start_time();
  if (self) {
    if (Track* const track = self->account.track();
        track && landing && *landing && (*landing)->channel && !(*landing)->channel->local)
      track->begin({track->label().work, other, (*landing)->packet.bytes()});
    self->account.leave(now(), start);
    self->blocked_on = {};
  }
  if (lost) throw PeerLost(world_rank(peer));
  return start;
}

Packet Communicator::take(Message& message) const {
  world_->count(message);
  Packet packet = std::move(message.packet);
  world_->release(message);
  return packet;
}

Pending Communicator::start_send(int target, Packet packet) const {
  require_alive(target);
  Message& message = world_->new_message();
  message.channel = &to(target);
  const auto bytes = message.channel->local ? 0 : static_cast<std::uint64_t>(packet.bytes());
  message.packet = std::move(packet);
  if (world_->recorder_) {
    message.work = world_->work_of(world_rank(position_), world_rank(target), record::Work::send);
    message.step = world_->step(world_rank(position_));
    if (track() && track()->within() != record::Work::idle) message.work = track()->within();
  }
  Pending pending(*this, target);
  pending.bytes_ = static_cast<std::int64_t>(bytes);
  const sg4::CommPtr transfer = message.channel->mailbox->put_init(&message, bytes);
  const auto& limit = world_->cluster().options().flow_limit_bytes_per_s;
  if (limit && !message.channel->local) transfer->set_rate(*limit);
  transfer->start();
  // One reference for whoever waits, one for the message: the sender may be done before the receiver takes it.
  intrusive_ptr_add_ref(transfer.get());
  intrusive_ptr_add_ref(transfer.get());
  pending.transfer_ = message.transfer = transfer.get();
  return pending;
}

Pending Communicator::start_receive(int source) const {
  require_alive(source);
  Pending pending(*this, source);
  pending.landing_ = world_->new_landing();
  const sg4::CommPtr transfer = from(source).mailbox->get_async<Message>(pending.landing_);
  intrusive_ptr_add_ref(transfer.get());
  pending.transfer_ = transfer.get();
  return pending;
}

Packet Communicator::exchange(Packet packet, int target, int source) const {
  Pending sending = start_send(target, std::move(packet));
  Packet received = receive(source);
  sending.wait();
  return received;
}

values::Tensor Communicator::compute_together(const std::function<std::shared_ptr<const CollectiveTiming>()>& course,
                                              values::Tensor brought) const {
  return world_->computed_collectives_->attend(members_, generation_, position_, course, std::move(brought));
}

CollectiveLog::Calls& Communicator::collective(std::string_view name, std::int64_t bytes,
                                               const std::function<double(const AlphaBetaGamma&)>& alone_s) const {
  return world_->collectives_->calls(members_, generation_, name, bytes,
                                     [&] { return alone_s(world_->idle_costs(*members_)); });
}

int Communicator::locality(int member) const { return world_->cluster().locality(world_->host(world_rank(member))); }

void Communicator::charge_reduction(double flops, record::Work what) const {
  if (world_->cluster().options().charge_reductions) world_->compute(world_rank(position_), flops, activity_, what);
}

Pending Communicator::start_send_unless_lost(int target, Packet packet) const {
  if (world_->keeps_going() && !alive(target)) return {};
  return start_send(target, std::move(packet));
}

void Communicator::await_detection(int member) const {
  const double known_s = world_->lost_at_s(world_rank(member)) + world_->cluster().options().failures.detection_s;
  if (known_s > now()) sg4::this_actor::sleep_for(known_s - now());
}

Pending::Pending(const Communicator& communicator, int peer)
    : communicator_(&communicator),
      peer_(peer),
      incarnation_(communicator.world_->incarnation(communicator.world_rank(peer))) {}

Pending::Pending(Pending&& other) noexcept
    : communicator_(other.communicator_),
      transfer_(std::exchange(other.transfer_, nullptr)),
      landing_(std::exchange(other.landing_, nullptr)),
      peer_(other.peer_),
      incarnation_(other.incarnation_),
      bytes_(other.bytes_),
      start_s_(other.start_s_) {}

Pending& Pending::operator=(Pending&& other) noexcept {
  std::swap(communicator_, other.communicator_);
  std::swap(transfer_, other.transfer_);
  std::swap(landing_, other.landing_);
  std::swap(peer_, other.peer_);
  std::swap(incarnation_, other.incarnation_);
  std::swap(bytes_, other.bytes_);
  std::swap(start_s_, other.start_s_);
  return *this;
}

// What was not waited for is not released: see the header.
Pending::~Pending() = default;

Packet Pending::wait() {
  base::check(transfer_ != nullptr, "a transfer is waited for once");
  World& world = *communicator_->world_;
  const int peer = communicator_->world_rank(peer_);
  const auto lost = [&] { return world.incarnation(peer) != incarnation_; };
  if (lost() && transfer_->get_start_time() < 0.0) throw PeerLost(peer);  // nobody will ever take part in it
  start_s_ = communicator_->block_on(*transfer_, landing_ ? BlockedOn::Kind::receiving : BlockedOn::Kind::sending,
                                     peer_, landing_, bytes_);
  if (lost() && (!landing_ || *landing_ == &world.nothing_)) throw PeerLost(peer);
  intrusive_ptr_release(std::exchange(transfer_, nullptr));
  if (!landing_) return {};
  // Another rank has ended or failed the training at this very moment, and what came in is gone: this actor is about to
  // be killed.
  if (world.ended() || !(*landing_)->channel) sg4::this_actor::exit();
  Packet packet = communicator_->take(**landing_);
  *landing_ = nullptr;
  world.free_landings_.push_back(std::exchange(landing_, nullptr));
  return packet;
}

std::optional<Packet> Pending::wait_unless_lost() {
  if (!communicator_->world_->keeps_going()) return wait();
  try {
    return wait();
  } catch (const PeerLost&) {
    transfer_ = nullptr;  // its references are kept, as of one that is dropped
    return {};
  }
}

}  // namespace simgrad::cluster
