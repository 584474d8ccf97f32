#include "training/recovery.h"

#include <fmt/format.h>

#include <algorithm>

#include "training/training.h"

namespace simgrad::training {

using cluster::Crash;

Recovery::Recovery(Training& training) : training_(training) {}

void Recovery::schedule_crashes() {
  const cluster::World& world = training_.world();
  for (const Crash& each : training_.cluster().options().failures.crashes) {
    const bool server = each.role == cluster::Role::server;
    if (each.rank >= (server ? world.servers() : world.workers())) continue;  // a strategy may take fewer
    const int rank = static_cast<int>(each.rank) + (server ? world.workers() : 0);
    training_.cluster().at(each.at_s, [this, rank, repair_s = each.repair_s] { crash(rank, repair_s); });
  }
}

void Recovery::crash(int rank, std::optional<double> repair_s) {
  cluster::World& world = training_.world();
  if (world.ended() || !world.alive(rank)) return;
  const bool goes_on = !pending_ && training_.goes_on_without(rank);
  if (goes_on)
    world.crash_in_place(rank);
  else
    world.crash(rank);
  for (int each = 0; each < world.size(); ++each)
    if (world.same_host(each, rank)) training_.forget(each);
  training_.note(fmt::format("rank {} crashed at {:.6g} s", rank, world.now()));
  if (repair_s && training_.recovery() != cluster::Recovery::shrink) {
    repairs_.push_back({world.now() + *repair_s, rank});
    training_.cluster().at(repairs_.back().back_s, [this] { come_back(); });
  }
  if (goes_on) return crash_in_place(rank);
  // A crash during a recovery joins it: resume() looks again at who lives and who is still to come back.
  if (pending_) return;
  pending_ = true;
  training_.cluster().at(world.now() + training_.cluster().options().failures.detection_s, [this] { revoke(); });
}

void Recovery::crash_in_place(int rank) {
  cluster::World& world = training_.world();
  bool works = false;
  for (int each = 0; each < world.workers(); ++each) {
    if (world.same_host(each, rank)) training_.lose(each);
    works = works || world.alive(each);
  }
  if (!works && repairs_.empty()) return training_.fail_without("worker");
  training_.cluster().at(world.now() + training_.cluster().options().failures.detection_s,
                         [&world, rank, which = world.incarnation(rank)] {
                           if (!world.ended() && world.incarnation(rank) == which) world.announce(rank);
                         });
}

void Recovery::revoke() {
  cluster::World& world = training_.world();
  if (world.ended()) return;
  world.kill_actors();
  revoked_ = true;
  training_.cluster().at(world.now(), [this] { resume(); });
}

bool Recovery::revive_repaired() {
  cluster::World& world = training_.world();
  const double now = world.now();
  for (const Repair& repair : repairs_) {
    if (repair.back_s > now) continue;
    if (pending_ || !training_.in_place()) {
      world.revive(repair.rank);
      continue;
    }
    world.revive_in_place(repair.rank);
    for (int rank = 0; rank < world.workers(); ++rank)
      if (world.same_host(rank, repair.rank)) training_.bring_back(rank);
  }
  return std::erase_if(repairs_, [&](const Repair& repair) { return repair.back_s <= now; }) > 0;
}

void Recovery::come_back() {
  if (training_.world().ended() || !revive_repaired()) return;
  if (pending_) return resume();
  if (training_.in_place()) return;
  pending_ = true;  // under elastic the others have gone on: all start again with who is back
  revoke();
}

bool Recovery::ready() const {
  const cluster::World& world = training_.world();
  if (repairs_.empty() || training_.recovery() == cluster::Recovery::shrink) return true;
  if (training_.recovery() != cluster::Recovery::elastic && !training_.in_place()) return false;
  bool works = false;
  for (int rank = 0; rank < world.workers(); ++rank) works = works || world.alive(rank);
  const bool holds = training_.holder() == Holder::servers;
  return works && std::ranges::none_of(repairs_, [&](const Repair& repair) {
           for (int server = world.workers(); server < world.size(); ++server)
             if (holds && world.same_host(server, repair.rank)) return true;
           return false;
         });
}

void Recovery::resume() {
  if (training_.world().ended() || !pending_ || !revoked_) return;
  revive_repaired();  // callbacks of one date come in no particular order
  if (!ready()) return;
  pending_ = revoked_ = false;
  training_.relaunch();
}

}  // namespace simgrad::training
