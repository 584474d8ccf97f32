#include "training/recovery.h"

#include <fmt/format.h>

#include <algorithm>

#include "training/training.h"

namespace simgrad::training {

using cluster::Crash;

Recovery::Recovery(Training& training, const cluster::FailureOptions& options)
    : training_(training), options_(options) {}

void Recovery::schedule_crashes() {
  for (const Crash& each : options_.crashes)
    if (each.rank < training_.world().workers())
      training_.cluster().at(each.at_s, [this, each] { crash(each); });
}

void Recovery::crash(const Crash& crash) {
  cluster::World& world = training_.world();
  const int rank = static_cast<int>(crash.rank);
  if (world.ended() || !world.alive(rank)) return;
  world.crash(rank);
  training_.note(fmt::format("rank {} crashed at {:.6g} s", rank, world.now()));
  if (crash.repair_s && options_.recovery == cluster::Recovery::restart) {
    const double back_s = world.now() + *crash.repair_s;
    resume_s_ = std::max(resume_s_, back_s);
    repairs_.emplace_back(back_s, rank);
    training_.cluster().at(back_s, [this] { revive_repaired(); });
  }
  // A crash during a recovery joins it: resume() looks again at who lives and who is still to come back.
  if (!pending_) {
    pending_ = true;
    training_.cluster().at(world.now() + options_.detection_s, [this] { revoke(); });
  }
}

void Recovery::revoke() {
  if (training_.world().ended()) return;
  training_.world().kill_actors();
  resume_s_ = std::max(resume_s_, training_.world().now());
  training_.cluster().at(resume_s_, [this] { resume(); });
}

void Recovery::revive_repaired() {
  for (const auto& [back_s, rank] : repairs_)
    if (back_s <= training_.world().now()) training_.world().revive(rank);
  std::erase_if(repairs_, [&](const auto& repair) { return repair.first <= training_.world().now(); });
}

void Recovery::resume() {
  cluster::World& world = training_.world();
  if (world.ended()) return;
  revive_repaired();  // callbacks of one date come in no particular order
  if (world.now() < resume_s_) {  // another crash meanwhile
    training_.cluster().at(resume_s_, [this] { resume(); });
    return;
  }
  pending_ = false;
  training_.relaunch();
}

}  // namespace simgrad::training
