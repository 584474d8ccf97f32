/// Who waits for whom, and whether anything can still happen.
#include <fmt/format.h>

#include <algorithm>
#include <simgrid/s4u.hpp>

#include "cluster/ranks/world.h"

namespace simgrad::cluster {

namespace {

/// When the transfer started, negative if it has not.
double transfer_start_s(const simgrid::s4u::Comm* transfer) { return transfer ? transfer->get_start_time() : -1.0; }

}  // namespace

std::string World::who_waits() const {
  constexpr int shown = 8;
  std::string text;
  int waiting = 0;
  for (int r = 0; r < size(); ++r) {
    const Rank& rank = ranks_[static_cast<std::size_t>(r)];
    const BlockedOn& blocked_on = blocked_in(rank);
    if (blocked_on.kind == BlockedOn::Kind::nothing || !rank.running) continue;
    if (++waiting > shown) continue;
    const int peer = blocked_on.peer;
    text += fmt::format("{}rank {} (step {}) waits ", waiting == 1 ? "" : "; ", r, rank.step);
    if (blocked_on.kind == BlockedOn::Kind::meeting)
      text += "for the others of a collective";
    else
      text += fmt::format("to {} {}", blocked_on.kind == BlockedOn::Kind::sending ? "send to" : "receive from",
                          peer == BlockedOn::anybody ? "anybody" : fmt::format("rank {}", peer));
  }
  if (waiting > shown) text += fmt::format("; and {} more ranks wait", waiting - shown);
  return text;
}

bool World::stuck() const {
  // Actors beside move messages, too; what has arrived at an inbox is taken by one of them at once.
  const auto moves = [this](const Message& message) {
    if (transfer_start_s(message.transfer) < 0.0) return false;
    if (message.transfer->get_remaining() > 0.0) return true;
    const BlockedOn& target = blocked_in(ranks_[static_cast<std::size_t>(message.channel->target)]);
    return target.kind == BlockedOn::Kind::receiving && target.peer == BlockedOn::anybody;
  };
  if (std::ranges::any_of(messages_, moves)) return false;
  const auto runs = [](const Rank& rank) { return rank.running; };
  return std::any_of(ranks_.begin(), ranks_.end(), runs) &&
         std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
           const BlockedOn& blocked_on = blocked_in(rank);
           return !rank.running || (blocked_on.kind != BlockedOn::Kind::nothing && !blocked_on.complete &&
                                    transfer_start_s(blocked_on.transfer) < 0.0);
         });
}

}  // namespace simgrad::cluster
