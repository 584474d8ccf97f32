#include "training/recovery.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/ranks/membership.h"
#include "cluster/ranks/world.h"
#include "training/training.h"

namespace simgrad::training {

using cluster::Crash;

Recovery::Recovery(Training& training) : training_(training) {}

std::vector<int> ranks_that_fail(const cluster::Cluster& cluster, const cluster::World& world) {
  const cluster::FailureProcess& process = cluster.options().failures.of_hosts();
  std::vector<int> ranks;
  for (int rank = 0; rank < world.size(); ++rank) {
    bool first_of_its_host = process.happens();
    for (int before = 0; before < rank; ++before)
      first_of_its_host = first_of_its_host && !world.same_host(before, rank);
    if (!first_of_its_host || (rank >= world.workers() && !process.concerns_servers())) continue;
    if (process.only_class.empty() || cluster.host_class(world.host(rank)) == process.only_class) ranks.push_back(rank);
  }
  return ranks;
}

void Recovery::schedule_crashes() {
  const cluster::World& world = training_.world();
  for (const int rank : ranks_that_fail(training_.cluster(), world)) schedule_next(rank, 0, 0.0);
  for (const Crash& each : training_.cluster().options().failures.crashes) {
    const bool server = each.role == cluster::Role::server;
    if (each.rank >= (server ? world.servers() : world.workers())) continue;  // a strategy may take fewer
    const int rank = static_cast<int>(each.rank) + (server ? world.workers() : 0);
    training_.cluster().at(each.at_s, [this, rank, repair_s = each.repair_s] { crash(rank, repair_s); });
  }
}

void Recovery::schedule_next(int rank, std::int64_t count, double up_since_s) {
  const cluster::FailureOptions& failures = training_.cluster().options().failures;
  const int host = training_.world().host(rank);
  base::Stream stream({.seed = training_.learning().seed(),
                       .purpose = base::Purpose::failure,
                       .step = static_cast<std::uint64_t>(count),
                       .rank = static_cast<std::uint32_t>(host)});
  const auto outage = failures.of_hosts().next(host, count, up_since_s, stream, *failures.repair);
  if (!outage) return;
  training_.cluster().at(outage->down_s, [this, rank, count, outage] {
    if (over()) return;
    const auto repair_s = outage->up_s ? std::optional(*outage->up_s - outage->down_s) : std::nullopt;
    crash(rank, repair_s);
    training_.cluster().fail_if_stuck();  // the clock goes on by itself
    if (outage->up_s) schedule_next(rank, count + 1, *outage->up_s);
  });
}

bool Recovery::over() const { return training_.world().ended() || training_.cluster().failed(); }

/// A training whose hosts fail faster than it gets anywhere has to end, too.
bool Recovery::hopeless() {
  constexpr int most_crashes = 1000;
  if (training_.latest_step() > best_step_) {
    best_step_ = training_.latest_step();
    crashes_since_ = 0;
  }
  try {
    training_.cluster().watch();
  } catch (const std::exception& error) {  // no actor's guard stands around a callback
    training_.cluster().fail(error.what());
    return true;
  }
  if (++crashes_since_ <= most_crashes) return false;
  training_.cluster().fail(
      fmt::format("no progress: {} crashes since step {}, which was complete, and still none beyond it. Hosts fail "
                  "faster than a step, or "
                  "the way from one checkpoint to the next, takes; let them live longer (cluster.failures.hosts), take "
                  "fewer of them, or "
                  "write checkpoints more often",
                  most_crashes, best_step_));
  return true;
}

void Recovery::crash(int rank, std::optional<double> repair_s) {
  cluster::World& world = training_.world();
  if (over() || !world.alive(rank) || hopeless()) return;
  const bool goes_on = !pending_ && training_.goes_on_without(rank);
  if (goes_on)
    world.membership().lose(rank);
  else
    world.membership().crash(rank);
  for (int each = 0; each < world.size(); ++each)
    if (world.same_host(each, rank)) training_.forget(each);
  training_.note_failure(fmt::format("rank {} crashed at {:.6g} s", rank, world.now()));
  if (repair_s && training_.recovery() != cluster::Recovery::shrink) {
    repairs_.push_back({world.now() + *repair_s, rank});
    training_.cluster().at(repairs_.back().back_s, [this] { come_back(); });
  }
  training_.count_crash(!goes_on && !pending_);
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
                         [&world, rank, which = world.membership().incarnation(rank)] {
                           if (!world.ended() && world.membership().incarnation(rank) == which)
                             world.membership().announce(rank);
                         });
}

void Recovery::revoke() {
  cluster::World& world = training_.world();
  if (over()) return;
  world.kill_actors();
  revoked_ = true;
  training_.cluster().at(world.now(), [this] { resume(); });
}

bool Recovery::revive_repaired() {
  cluster::World& world = training_.world();
  const double now = world.now();
  for (const Repair& repair : repairs_) {
    if (repair.back_s > now) continue;
    if (pending_ || !training_.keeps_going()) {
      world.membership().revive(repair.rank);
      continue;
    }
    world.membership().rejoin(repair.rank);
    for (int rank = 0; rank < world.workers(); ++rank)
      if (world.same_host(rank, repair.rank)) training_.bring_back(rank);
  }
  return std::erase_if(repairs_, [&](const Repair& repair) { return repair.back_s <= now; }) > 0;
}

void Recovery::come_back() {
  if (over() || !revive_repaired()) return;
  if (pending_) return resume();
  if (training_.keeps_going()) return;
  training_.join_begins();
  pending_ = true;  // under elastic the others have gone on: all start again with who is back
  revoke();
}

/// Somebody for whom a restart would wait in vain.
std::optional<int> Recovery::lost_for_good() const {
  if (!repairs_.empty() ||
      (training_.recovery() != cluster::Recovery::restart && training_.recovery() != cluster::Recovery::wait))
    return {};
  for (int rank = 0; rank < training_.world().size(); ++rank)
    if (!training_.world().alive(rank)) return rank;
  return {};
}

bool Recovery::ready() const {
  const cluster::World& world = training_.world();
  if (repairs_.empty() || training_.recovery() == cluster::Recovery::shrink) return true;
  if (training_.recovery() != cluster::Recovery::elastic && !training_.keeps_going()) return false;
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
  if (over() || !pending_ || !revoked_) return;
  revive_repaired();  // callbacks of one date come in no particular order
  if (const auto rank = lost_for_good())
    return training_.cluster().fail(
        fmt::format("the host of rank {} never comes back, but recovery \"{}\" waits for it; let it be repaired "
                    "(cluster.failures), or "
                    "recover by \"shrink\" or \"elastic\"",
                    *rank, cluster::name(training_.recovery())));
  if (!ready()) return;
  pending_ = revoked_ = false;
  training_.relaunch();
}

}  // namespace simgrad::training
