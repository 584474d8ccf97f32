#include "cluster/ranks/communicator.h"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>

#include "base/errors.h"
#include "cluster/computed/collective_log.h"
#include "cluster/computed/computed_collectives.h"
#include "cluster/computed/idle_costs.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/local_groups.h"
#include "cluster/ranks/membership.h"
#include "cluster/ranks/messenger.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

Communicator::Communicator(World& world, Members members, int position, int generation)
    : world_(&world),
      members_(std::move(members)),
      position_(position),
      generation_(generation),
      actor_(&world.timekeeper().main(world_rank(position))) {}

Communicator Communicator::subgroup(std::span<const int> positions) const {
  std::vector<int> chosen;
  int own = -1;
  for (const int position : positions) {
    if (position == position_) own = static_cast<int>(chosen.size());
    chosen.push_back(world_rank(position));
  }
  base::check(own >= 0, "a member makes a part of its group that it is in");
  Communicator smaller(*world_, world_->localities().shared(std::move(chosen)), own, generation_);
  smaller.actor_ = actor_;
  smaller.main_ = main_;
  return smaller;
}

Communicator Communicator::unrounded() const {
  Communicator same = *this;
  same.rounds_ = false;
  return same;
}

Communicator Communicator::for_side_actor(ActorState* actor) const {
  Communicator same(*world_, members_, position_, generation_);
  same.actor_ = actor;
  same.main_ = false;
  return same;
}

Communicator Communicator::on_own_channels() const {
  constexpr int own_channels = 1 << 15;  // generations are far fewer
  Communicator other(*world_, members_, position_, generation_ | own_channels);
  other.actor_ = actor_;
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
    world_->computed_collectives().message(world_rank(position_), world_rank(target), !main_);
    return world_->messenger().channel(generation_, world_rank(position_), world_rank(target));
  });
}

Channel& Communicator::from(int source) const {
  return find_or_make(incoming_, source, [&]() -> Channel& {
    return world_->messenger().channel(generation_, world_rank(source), world_rank(position_));
  });
}

double Communicator::now() const { return world_->now(); }

int Communicator::locality(int member) const { return world_->cluster().locality(world_->host(world_rank(member))); }

bool Communicator::alive(int member) const { return world_->membership().alive(world_rank(member)); }

void Communicator::require_alive(int member) const {
  if (!alive(member)) lose(member);
}

void Communicator::lose(int member) const {
  const int peer = world_rank(member);
  if (!world_->membership().keeps_going()) world_->ranks().lose_peer(world_rank(position_), main_, peer);
  throw PeerLost(peer);
}

/// On the cluster's own network a transfer starts at once; SimGrid starts it when all actors have gone on that can. The
/// transfer's start must not decide what they do at this instant: whether the training ends, or whose update counts
/// first.
void Communicator::let_others_go_on() const {
  if (world_->cluster().flows() && std::exchange(last_call_s_, now()) != now()) sg4::this_actor::yield();
}

values::Tensor Communicator::on_wire(values::Tensor x) const {
  const values::Format format = world_->travels_as();
  if (!rounds_ || format == values::Format::float64 || !x || x.wire_format().format == values::Format::encoded)
    return x;
  return x.wire_format().bytes_per_number > values::wire_format(format).bytes_per_number ? values::rounded(x, format)
                                                                                         : x;
}

Pending Communicator::start_send(int target, Packet packet) const {
  packet.tensor = on_wire(std::move(packet.tensor));
  let_others_go_on();
  require_alive(target);
  Message& message = world_->messenger().new_message();
  message.channel = &to(target);
  message.channel->sender = actor_;
  const std::int64_t bytes = message.channel->local ? 0 : packet.bytes();
  message.packet = std::move(packet);
  if (world_->recording().asked_for()) {
    const Track* const track = actor_ ? actor_->track() : nullptr;
    const int source = world_rank(position_);
    message.step = world_->ranks().step(source);
    message.work = track && track->within() != record::Work::idle
                       ? track->within()
                       : world_->recording().transfer_work(source, world_rank(target), record::Work::send);
  }
  Pending pending(*this, target, nullptr, &message.channel->receiver, bytes);
  pending.started(world_->messenger().send(message));
  return pending;
}

Pending Communicator::start_receive(int source) const {
  let_others_go_on();
  require_alive(source);
  Message** const landing = world_->messenger().new_landing();
  Channel& channel = from(source);
  channel.receiver = actor_;
  Pending pending(*this, source, landing, &channel.sender, 0);
  pending.started(world_->messenger().receive(channel, landing));
  return pending;
}

void Communicator::receive_next(int source, ParcelTaker& taker, std::size_t place) const {
  Channel& channel = from(source);
  channel.receiver = actor_;
  world_->messenger().receive(channel, taker, place);
}

Packet Communicator::exchange(Packet packet, int target, int source) const {
  Pending sending = start_send(target, std::move(packet));
  Packet received = receive(source);
  sending.wait();
  return received;
}

Pending Communicator::start_send_unless_lost(int target, Packet packet) const {
  if (world_->membership().keeps_going() && !alive(target)) return {};
  return start_send(target, std::move(packet));
}

void Communicator::await_detection(int member) const {
  const double lost_at_s = world_->membership().lost_at_s(world_rank(member));
  const double known_s = lost_at_s + world_->cluster().options().failures.detection_s;
  if (!(known_s > now())) return;
  const WithinScope recovering(world_->cluster(), actor_, record::TimePart::wait_recovery);
  sg4::this_actor::sleep_for(known_s - now());
}

void Communicator::charge_reduction(double flops, record::Work work) const {
  charge_time_of(world_->ranks().reduction(world_rank(position_), flops), flops, work);
}

void Communicator::charge_memory(double bytes, double flops, record::Work work) const {
  const Device* const device = world_->cluster().device(world_->host(world_rank(position_)));
  if (!device) return charge_reduction(flops, work);
  charge_time_of(bytes / device->memory_bandwidth_bytes_per_s * device->additions_per_s(), flops, work);
}

double Communicator::reduction_of_memory(double bytes, double flops) const {
  const int self = world_rank(position_);
  const Device* const device = world_->cluster().device(world_->host(self));
  return device ? device->memory_s(bytes) * device->additions_per_s() / world_->ranks().reduction(self, 1.0) : flops;
}

void Communicator::charge_time_of(double flops_of_time, double flops, record::Work work) const {
  if (!world_->cluster().options().charge_reductions) return;
  world_->ranks().compute(world_rank(position_), flops_of_time, actor_, work);
  if (flops_of_time != flops) world_->ranks().count_flops(flops - flops_of_time);
}

bool Communicator::may_compute() const { return actor_ && world_->computes_collectives(); }

bool Communicator::hosts_may_fail() const { return world_->cluster().options().failures.hosts_fail(); }

bool Communicator::alike_routes() const { return world_->cluster().options().alike_routes(); }

values::Tensor Communicator::compute_together(const std::function<std::shared_ptr<const CollectiveTiming>()>& timing,
                                              values::Tensor brought) const {
  return world_->computed_collectives().take_part({members_, generation_, position_, *actor_}, timing,
                                                  std::move(brought));
}

values::Tensor Communicator::compute_in_phases(const std::function<std::string()>& key,
                                               const std::function<CollectivePhases()>& phases,
                                               values::Tensor brought) const {
  return world_->computed_collectives().take_part({members_, generation_, position_, *actor_}, {key, phases},
                                                  std::move(brought));
}

const LocalGroups& Communicator::local_groups() const { return world_->localities().of(members_, generation_); }

CollectiveCalls& Communicator::collective(std::string_view name, std::int64_t bytes,
                                          const std::function<double(const AlphaBetaGamma&)>& alone_s) const {
  return world_->collective_log().calls(members_, generation_, name, bytes,
                                        [&] { return alone_s(idle_costs(*world_, *members_)); });
}

}  // namespace simgrad::cluster
