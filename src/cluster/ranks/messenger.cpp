#include "cluster/ranks/messenger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/computed/beside_messages.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/flow_network.h"
#include "cluster/fabric/network_model.h"
#include "cluster/fabric/simgrid_versions.h"
#include "cluster/ranks/membership.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"
#include "cluster/usage/traffic.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

Channel& Messenger::channel(int generation, int source, int target) {
  // 16 bits of generation and 24 of each rank: Cluster allows far fewer ranks.
  const std::uint64_t key = (static_cast<std::uint64_t>(generation) << 48) |
                            (static_cast<std::uint64_t>(source) << 24) | static_cast<std::uint64_t>(target);
  Channel& channel = channels_[key];
  if (!channel.sender) {
    FlowNetwork* const flows = world_.cluster().flows();
    if (!flows)
      channel.mailbox = sg4::Mailbox::by_name(mailbox_name(generation, source, target));
    else if (!world_.same_host(source, target))
      channel.route = &flows->route(world_.host(source), world_.host(target));
    channel.source = source;
    channel.target = target;
    channel.local = world_.same_host(source, target);
    if (!flows && !channel.local)
      channel.most_bytes_per_s = most_of_flow(world_.cluster(), world_.host(source), world_.host(target));
    name_main_actors(channel);
  }
  return channel;
}

void Messenger::name_main_actors(Channel& channel) const {
  channel.sender = &world_.timekeeper().main(channel.source);
  channel.receiver = &world_.timekeeper().main(channel.target);
}

std::string Messenger::mailbox_name(int generation, int source, int target) const {
  std::string text = fmt::format("{}/{}/{}>{}", world_.name(), generation, source, target);
  const int of_source = world_.membership().incarnation(source);
  const int of_target = world_.membership().incarnation(target);
  if (of_source + of_target > 0) text += fmt::format("/{}>{}", of_source, of_target);
  return text;
}

void Messenger::rename_mailboxes(int rank) {
  for (auto& [key, channel] : channels_)
    if (channel.source == rank || channel.target == rank)
      channel.mailbox =
          sg4::Mailbox::by_name(mailbox_name(static_cast<int>(key >> 48), channel.source, channel.target));
}

Message& Messenger::new_message() {
  if (free_messages_.empty()) return messages_.emplace_back();
  Message& message = *free_messages_.back();
  free_messages_.pop_back();
  return message;
}

void Messenger::release(Message& message) {
  message = {};
  free_messages_.push_back(&message);
}

Packet Messenger::take(Message& message) {
  count(message);
  Packet packet = std::move(message.packet);
  release(message);
  return packet;
}

/// An end of a parcel comes to its channel: of the one that waits for this end, which starts, or of a new one.
AnyTransfer Messenger::meet(Channel& channel, bool receives, const std::function<void(Parcel&)>& fill) {
  Parcel* const met = channel.waiting.take(receives);
  Parcel& parcel = met ? *met : parcels_.make();
  AnyTransfer transfer(parcel);
  fill(parcel);
  if (!met)
    channel.waiting.put(parcel, receives);
  else if (channel.route) {
    const auto bytes = static_cast<double>(parcel.message->packet.bytes());
    parcel.under_way = {.source = channel.source, .target = channel.target, .bytes = bytes};
    if (BesideMessages* const beside = world_.computed_collectives().beside_messages())
      beside->starts(parcel.under_way);
    world_.cluster().flows()->start(parcel, *channel.route, bytes);
  } else
    world_.cluster().flows()->pass(parcel);
  return transfer;
}

AnyTransfer Messenger::send(Message& message) {
  Channel& channel = *message.channel;
  if (!channel.mailbox)
    return meet(channel, false, [&](Parcel& parcel) {
      parcel.message = &message;
      message.transfer = AnyTransfer(parcel);
    });
  const auto bytes = channel.local ? 0 : static_cast<std::uint64_t>(message.packet.bytes());
  const sg4::CommPtr transfer = channel.mailbox->put_init(&message, bytes);
  if (std::isfinite(channel.most_bytes_per_s)) transfer->set_rate(channel.most_bytes_per_s);
  transfer->start();
  // The message has a reference, too: the sender may be done before the receiver takes it.
  return message.transfer = AnyTransfer(*transfer);
}

AnyTransfer Messenger::receive(Channel& channel, Message** landing) {
  if (!channel.mailbox) return meet(channel, true, [&](Parcel& parcel) { parcel.landing = landing; });
  return AnyTransfer(*channel.mailbox->get_async<Message>(landing));
}

AnyTransfer Messenger::receive(Channel& channel, ParcelTaker& taker, std::size_t place) {
  return meet(channel, true, [&](Parcel& parcel) {
    parcel.taker = &taker;
    parcel.taker_place = place;
  });
}

Message** Messenger::new_landing() {
  if (free_landings_.empty()) return &landings_.emplace_back(nullptr);
  Message** landing = free_landings_.back();
  free_landings_.pop_back();
  return landing;
}

void Messenger::release(Message** landing) {
  *landing = nullptr;
  free_landings_.push_back(landing);
}

void Messenger::count(Message& message) {
  if (std::exchange(message.counted, true)) return;
  Channel& channel = *message.channel;
  if (channel.local) return;
  const std::int64_t bytes = message.packet.bytes();
  if (world_.recording().running()) world_.recording().take(message);
  channel.sent += {bytes, 1};
  Traffic& traffic = world_.traffic();
  traffic.count(bytes * world_.repeats());
  if (!traffic.kept_over_time()) return;
  const double finish_s = message.transfer.finish_s();
  const double start_s = message.transfer.start_s();
  const double end_s = finish_s >= start_s ? finish_s : world_.now();  // else it is still under way
  traffic.spread({world_.host(channel.source), world_.host(channel.target)}, start_s, end_s, bytes);
}

void Messenger::count_if_started(Message& message) {
  if (message.transfer.start_s() >= 0.0) count(message);
}

/// A transfer that starts at the very moment of a training's end is left out: the order of actors would decide whether
/// it has started.
void Messenger::count_started() {
  for (Message& message : messages_)
    if (message.transfer.start_s() < world_.now()) count_if_started(message);
}

void Messenger::abandon(AnyTransfer transfer) {
  if (transfer.comm()) abandoned_.push_back({std::move(transfer), world_.now()});
}

void Messenger::release_abandoned() {
  while (!abandoned_.empty() && abandoned_.front().at_s < world_.now()) abandoned_.pop_front();
}

void Messenger::forget_host(int host) {
  for (auto& [key, channel] : channels_)  // side actors are gone with it
    if (world_.host(channel.source) == host || world_.host(channel.target) == host) name_main_actors(channel);
  for (Message& message : messages_)
    if (message.transfer &&
        (world_.host(message.channel->source) == host || world_.host(message.channel->target) == host)) {
      count_if_started(message);
      abandon(std::exchange(message.transfer, {}));
    }
}

void Messenger::drop_all() {
  for (Message& message : messages_)
    if (message.transfer) {
      count_if_started(message);
      if (Parcel* const parcel = message.transfer.parcel(); parcel && world_.cluster().flows()->cancel(*parcel)) {
        if (parcel->under_way.list) parcel->under_way.list->remove(parcel->under_way);
        parcel->release();
      }
      release(message);
    }
  for (auto& [key, channel] : channels_) channel.waiting.clear();
}

void Messenger::post(Traffic& traffic) const {
  std::vector<const Channel*> used;
  used.reserve(channels_.size());
  for (const auto& [key, channel] : channels_) used.push_back(&channel);
  std::ranges::sort(used, {}, [](const Channel* channel) { return std::pair(channel->source, channel->target); });
  for (const Channel* const channel : used) traffic.post(channel->source, channel->target, channel->sent);
}

/// Cancelling a transfer wakes nobody: an actor on the rank's own host takes the other end of the one that blocks the
/// rank, and Pending sees that the peer is another incarnation by then.
void Messenger::unblock(int rank) {
  const BlockedOn& blocked_on = std::as_const(world_).timekeeper().main(rank).blocked_on();
  const bool receives = blocked_on.kind == BlockedOn::Kind::receiving;
  const sg4::ActorPtr end = new_actor("other end", world_.cluster().host(world_.host(rank)),
                                      [this, receives, mailbox = blocked_on.transfer->comm()->get_mailbox()] {
                                        if (receives)
                                          mailbox->put(&nothing_, 0);
                                        else
                                          mailbox->get<Message>();
                                      });
  world_.ranks().add_actor(end->get_pid());
}

/// Transfers that have started end with SimGrid's host; the others would wait for ever.
void Messenger::break_off(const std::function<bool(int rank)>& lost) {
  for (int r = 0; r < world_.size(); ++r) {
    const BlockedOn& blocked_on = std::as_const(world_).timekeeper().main(r).blocked_on();
    const bool waits_for_lost = blocked_on.peer >= 0 && lost(blocked_on.peer) && blocked_on.transfer != nullptr;
    if (world_.alive(r) && !lost(r) && waits_for_lost && blocked_on.transfer->start_s() < 0.0) unblock(r);
  }
  for (Message& message : messages_)
    if (message.transfer && (lost(message.channel->source) || lost(message.channel->target)) &&
        message.transfer.start_s() < 0.0)
      abandon(std::exchange(message.transfer, {}));
}

}  // namespace simgrad::cluster
