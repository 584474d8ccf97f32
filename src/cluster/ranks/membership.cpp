/// Ranks that are lost and come back while all others go on.
#include <fmt/format.h>

#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/ranks/world.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

/// What has started ends with SimGrid's host. What has not would wait for ever, for cancelling wakes nobody: an actor
/// on the waiting rank's own host takes the other end, and Pending sees that the peer is another incarnation by then.
void World::break_off(const std::function<bool(int rank)>& lost) {
  for (int r = 0; r < size(); ++r) {
    const BlockedOn& blocked_on = ranks_[static_cast<std::size_t>(r)].blocked_on;
    if (!alive(r) || lost(r) || blocked_on.peer < 0 || !lost(blocked_on.peer) || !blocked_on.transfer) continue;
    if (blocked_on.transfer->get_start_time() >= 0.0) continue;
    const bool receives = blocked_on.kind == BlockedOn::Kind::receiving;
    const sg4::ActorPtr end = sg4::Actor::create("other end", cluster_.host(host(r)),
                                                 [this, receives, mailbox = blocked_on.transfer->get_mailbox()] {
                                                   if (receives)
                                                     mailbox->put(&nothing_, 0);
                                                   else
                                                     mailbox->get<Message>();
                                                 });
    actors_.push_back(end->get_pid());
  }
  for (Message& message : messages_)
    if (message.transfer && (lost(message.channel->source) || lost(message.channel->target)) &&
        message.transfer->get_start_time() < 0.0)
      message.transfer = nullptr;  // kept alive by who waits for it
  for (int r = 0; r < size(); ++r)
    if (lost(r)) ++ranks_[static_cast<std::size_t>(r)].incarnation;
}

void World::lose(int rank) {
  if (!alive(rank) || ended_) return;
  const int gone = host(rank);
  break_off([&](int r) { return host(r) == gone; });
  for (int r = 0; r < size(); ++r) {
    if (host(r) != gone) continue;
    ranks_[static_cast<std::size_t>(r)].lost_at_s = now();
    ranks_[static_cast<std::size_t>(r)].announced = false;
    for (MembershipListener* listener : std::vector(*membership_listeners_)) listener->on_crash(r);
  }
  crash(rank);
}

void World::announce(int rank) {
  for (int r = 0; r < size(); ++r)
    if (same_host(r, rank) && !std::exchange(ranks_[static_cast<std::size_t>(r)].announced, true))
      for (MembershipListener* listener : std::vector(*membership_listeners_)) listener->on_detected(r);
}

void World::rejoin(int rank) {
  if (alive(rank) || ended_) return;
  announce(rank);
  revive(rank);
  for (int r = 0; r < size(); ++r) {
    if (!same_host(r, rank)) continue;
    rename_mailboxes(r);
    for (MembershipListener* listener : std::vector(*membership_listeners_)) listener->on_rejoin(r);
  }
}

void World::start_over(int rank) {
  break_off([&](int r) { return r == rank; });
  rename_mailboxes(rank);
}

std::string World::mailbox_name(int generation, int source, int target) const {
  std::string text = fmt::format("{}/{}/{}>{}", name_, generation, source, target);
  if (incarnation(source) + incarnation(target) > 0)
    text += fmt::format("/{}>{}", incarnation(source), incarnation(target));
  return text;
}

void World::rename_mailboxes(int rank) {
  for (auto& [key, channel] : channels_)
    if (channel.source == rank || channel.target == rank)
      channel.mailbox =
          sg4::Mailbox::by_name(mailbox_name(static_cast<int>(key >> 48), channel.source, channel.target));
}

}  // namespace simgrad::cluster
