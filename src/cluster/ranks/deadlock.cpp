#include "cluster/ranks/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <simgrid/s4u.hpp>

#include "cluster/ranks/messenger.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

namespace {

/// "to receive from rank 1"
std::string waits_for(const BlockedOn& on) {
  if (on.kind == BlockedOn::Kind::collective) return "for the others of a collective";
  return fmt::format("to {} {}", on.kind == BlockedOn::Kind::sending ? "send to" : "receive from",
                     on.peer == BlockedOn::anybody ? "anybody" : fmt::format("rank {}", on.peer));
}

/// Whether a message will still do something. Side actors move messages, too; a message that has arrived at an inbox is
/// taken by one of them at once.
bool moves(const World& world, const Message& message) {
  if (message.transfer.start_s() < 0.0) return false;
  return !message.transfer.over() || world.timekeeper().blocked_on(message.channel->target).receives_from_anybody();
}

/// Whether nothing but another rank can end the wait.
bool waits_for_ever(const BlockedOn& on) {
  return on.kind != BlockedOn::Kind::nothing && !on.ends_by_itself && transfer_start_s(on.transfer) < 0.0;
}

}  // namespace

std::string blocked_ranks(const World& world) {
  constexpr int shown = 8;
  std::string text;
  int waiting = 0;
  for (int rank = 0; rank < world.size(); ++rank) {
    const BlockedOn& on = world.timekeeper().blocked_on(rank);
    if (on.kind == BlockedOn::Kind::nothing || !world.ranks().running(rank)) continue;
    if (++waiting > shown) continue;
    text += fmt::format("{}rank {} (step {}) waits {}", waiting == 1 ? "" : "; ", rank, world.ranks().step(rank),
                        waits_for(on));
  }
  if (waiting > shown) text += fmt::format("; and {} more ranks wait", waiting - shown);
  return text;
}

bool stuck(const World& world) {
  if (std::ranges::any_of(world.messenger().messages(), [&](const Message& message) { return moves(world, message); }))
    return false;
  bool any_runs = false;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (!world.ranks().running(rank)) continue;
    any_runs = true;
    if (!waits_for_ever(world.timekeeper().blocked_on(rank))) return false;
  }
  return any_runs;
}

std::string left_behind(const World& world) {
  for (const Message& message : world.messenger().messages())
    if (message.transfer && message.transfer.start_s() < 0.0)
      return fmt::format("rank {} has sent {} bytes to rank {}, which nobody received", message.channel->source,
                         message.packet.bytes(), message.channel->target);
  return {};
}

}  // namespace simgrad::cluster
