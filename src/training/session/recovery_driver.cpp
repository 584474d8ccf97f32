#include "training/session/recovery_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/membership.h"
#include "cluster/ranks/world.h"
#include "training/session/replicas.h"

namespace simgrad::training {

using cluster::Crash;

RecoveryDriver::RecoveryDriver(cluster::World& world, const Replicas& replicas, Recoverable& training,
                               const Terms& terms)
    : world_(world), cluster_(world.cluster()), replicas_(replicas), training_(training), terms_(terms) {}

void fail_without(cluster::Cluster& cluster, const char* role) {
  cluster.fail(
      fmt::format("no {0} is left: at {1:.6g} s the host of every {0} has crashed, and none of them comes back; let "
                  "hosts be repaired (cluster.failures), or take more of them",
                  role, cluster.now()));
}

namespace {

std::vector<int> first_ranks_of_hosts(const cluster::World& world) {
  std::set<int> hosts;
  std::vector<int> ranks;
  for (int rank = 0; rank < world.size(); ++rank)
    if (hosts.insert(world.membership().host_number(rank)).second) ranks.push_back(rank);
  return ranks;
}

/// The rank, or the workers on its host: "rank 3", "the host of ranks 2 and 3", "the host of ranks 8 to 15".
std::string who(const cluster::World& world, int rank) {
  std::vector<int> workers = world.membership().ranks_beside(rank);
  std::erase_if(workers, [&](int each) { return each >= world.workers(); });
  if (workers.size() < 2) return fmt::format("rank {}", rank);
  return fmt::format("the host of ranks {} {} {}", workers.front(), workers.size() == 2 ? "and" : "to", workers.back());
}

}  // namespace

std::vector<int> ranks_that_fail(const cluster::Cluster& cluster, const cluster::World& world) {
  const cluster::FailureProcess& process = cluster.options().failures.of_hosts();
  std::vector<int> ranks;
  if (!process.happens()) return ranks;
  const auto fails = [&](int rank) {
    const bool concerned = rank < world.workers() || process.concerns_servers();
    return concerned && (process.only_class.empty() || cluster.host_class(world.host(rank)) == process.only_class);
  };
  std::set<int> hosts;
  for (int rank = 0; rank < world.size(); ++rank)
    if (fails(rank) && hosts.insert(world.membership().host_number(rank)).second) ranks.push_back(rank);
  return ranks;
}

/// The crashes that the scenario names, one for each host and date: the longest repair counts, for the host is back
/// once all of its devices are.
std::vector<std::pair<int, const Crash*>> RecoveryDriver::crashes_of_hosts() const {
  std::map<std::pair<double, int>, std::pair<int, const Crash*>> by_date;
  const auto repaired_s = [](const Crash& each) {
    return each.repair_s.value_or(std::numeric_limits<double>::infinity());
  };
  for (const Crash& each : cluster_.options().failures.crashes) {
    const bool server = each.role == cluster::Role::server;
    if (each.rank >= (server ? world_.servers() : world_.workers())) continue;  // a strategy may take fewer
    const int rank = static_cast<int>(each.rank) + (server ? world_.workers() : 0);
    const auto [at, fresh] = by_date.try_emplace({each.at_s, world_.membership().host_number(rank)}, rank, &each);
    if (!fresh && repaired_s(each) > repaired_s(*at->second.second)) at->second.second = &each;
  }
  std::vector<std::pair<int, const Crash*>> all;
  for (const auto& [date, crash] : by_date) all.push_back(crash);
  return all;
}

void RecoveryDriver::schedule_crashes() {
  const std::vector<int> failing = ranks_that_fail(cluster_, world_);
  places_ = first_ranks_of_hosts(world_);
  if (const std::int64_t spares = cluster_.options().failures.spares; spares > 0)
    spares_.emplace(static_cast<int>(places_.size()), static_cast<int>(spares));
  if (!spares_)
    for (const int rank : failing) schedule_next(rank, 0, 0.0);
  std::set<int> failing_hosts;
  for (const int rank : failing) failing_hosts.insert(world_.membership().host_number(rank));
  for (int server = 0; spares_ && server < spares_->servers(); ++server) {
    const std::size_t as = server < std::ssize(places_) ? static_cast<std::size_t>(server) : 0;  // a spare as the first
    if (failing_hosts.contains(world_.membership().host_number(places_[as]))) schedule_next_of_server(server, 0, 0.0);
  }
  for (const auto& [rank, crash_of_host] : crashes_of_hosts()) {
    const Crash& each = *crash_of_host;
    cluster_.at(each.at_s, [this, rank, repair_s = each.repair_s] {
      if (!spares_) return crash(rank, repair_s);
      if (const auto in_place = spares_->server_in(place_of(rank))) lose_server(*in_place, repair_s);
    });
  }
}

std::optional<cluster::Outage> RecoveryDriver::next_outage(int host, std::int64_t count, double up_since_s) const {
  const cluster::FailureOptions& failures = cluster_.options().failures;
  const base::Stream::Key draws{.seed = terms_.seed,
                                .purpose = base::Purpose::failure,
                                .step = static_cast<std::uint64_t>(count),
                                .rank = static_cast<std::uint32_t>(host)};
  return failures.of_hosts().next(host, count, up_since_s, draws, *failures.repair);
}

void RecoveryDriver::schedule_next(int rank, std::int64_t count, double up_since_s) {
  const auto outage = next_outage(world_.membership().host_number(rank), count, up_since_s);
  if (!outage) return;
  cluster_.at(outage->down_s, [this, rank, count, outage] {
    if (over()) return;
    const auto repair_s = outage->up_s ? std::optional(*outage->up_s - outage->down_s) : std::nullopt;
    crash(rank, repair_s);
    cluster_.fail_if_stuck();  // the clock goes on by itself
    if (outage->up_s) schedule_next(rank, count + 1, *outage->up_s);
  });
}

/// Schedules the next outage of a server, whatever place it has: in reserve it fails as well.
void RecoveryDriver::schedule_next_of_server(int server, std::int64_t count, double up_since_s) {
  const auto outage = next_outage(server, count, up_since_s);
  if (!outage) return;
  cluster_.at(outage->down_s, [this, server, count, outage] {
    if (over()) return;
    lose_server(server, outage->up_s ? std::optional(*outage->up_s - outage->down_s) : std::nullopt);
    cluster_.fail_if_stuck();
    if (outage->up_s) schedule_next_of_server(server, count + 1, *outage->up_s);
  });
}

/// The place of that rank's host among those that spares take.
int RecoveryDriver::place_of(int rank) const {
  const int first = world_.membership().ranks_beside(rank).front();
  return static_cast<int>(std::ranges::lower_bound(places_, first) - places_.begin());
}

/// A server is down, in its place or in reserve.  repair_s: until it is a spare; none: never.
void RecoveryDriver::lose_server(int server, std::optional<double> repair_s) {
  if (over()) return;
  const std::optional<int> place = spares_->down(server, repair_s.has_value());
  if (repair_s)
    cluster_.at(world_.now() + *repair_s, [this, server] {
      if (over()) return;
      spares_->repaired(server);
      fill_places();
    });
  if (place) crash(places_[static_cast<std::size_t>(*place)], {});
}

/// Gives spares to the places that lack a host, once their loss is detected.
void RecoveryDriver::fill_places() {
  if (!revoked_) return;
  for (const int place : spares_->fill()) {
    const int rank = places_[static_cast<std::size_t>(place)];
    training_.note_failure(
        fmt::format("a spare host took the place of {} at {:.6g} s", who(world_, rank), world_.now()));
    world_.membership().revive(rank);
  }
  cluster_.at(world_.now(), [this] { resume(); });
}

/// Whether the training has ended, or the run has failed.
bool RecoveryDriver::over() const { return world_.ended() || cluster_.failed(); }

/// Fails the run where hosts fail faster than the training makes progress.
bool RecoveryDriver::hopeless() {
  constexpr int most_crashes = 1000;
  if (training_.latest_step() > best_step_) {
    best_step_ = training_.latest_step();
    crashes_since_ = 0;
  }
  try {
    cluster_.watch();
  } catch (const std::exception& error) {  // no actor's guard stands around a callback
    cluster_.fail(error.what());
    return true;
  }
  if (++crashes_since_ <= most_crashes) return false;
  cluster_.fail(
      fmt::format("no progress: {} crashes since step {}, which was complete, and still none beyond it. Hosts fail "
                  "faster than a step, or "
                  "the way from one checkpoint to the next, takes; let them live longer (cluster.failures.hosts), take "
                  "fewer of them, or "
                  "write checkpoints more often",
                  most_crashes, best_step_));
  return true;
}

void RecoveryDriver::crash(int rank, std::optional<double> repair_s) {
  if (over() || !world_.alive(rank) || hopeless()) return;
  const bool goes_on = !pending_ && goes_on_without(rank);
  if (goes_on)
    world_.membership().lose(rank);
  else
    world_.membership().crash(rank);
  for (const int each : world_.membership().ranks_beside(rank)) training_.forget(each);
  training_.note_failure(fmt::format("{} crashed at {:.6g} s", who(world_, rank), world_.now()));
  if (repair_s && terms_.recovery != cluster::Recovery::shrink) {
    repairs_.push_back({world_.now() + *repair_s, rank});
    cluster_.at(repairs_.back().back_s, [this] { come_back(); });
  }
  training_.crashed(!goes_on && !pending_);
  if (goes_on) return crash_in_place(rank);
  // A crash during a recovery joins it: resume() looks again at who lives and who is still to come back.
  if (pending_) {
    if (spares_) fill_places();
    return;
  }
  pending_ = true;
  cluster_.at(world_.now() + cluster_.options().failures.detection_s, [this] { revoke(); });
}

void RecoveryDriver::crash_in_place(int rank) {
  for (const int each : world_.membership().ranks_beside(rank))
    if (each < world_.workers()) training_.lose(each);
  if (!a_worker_lives() && repairs_.empty()) return fail_without(cluster_, "worker");
  cluster_.at(world_.now() + cluster_.options().failures.detection_s,
              [&world = world_, rank, lost = world_.membership().incarnation(rank)] {
                if (!world.ended() && world.membership().incarnation(rank) == lost) world.membership().announce(rank);
              });
}

void RecoveryDriver::revoke() {
  if (over()) return;
  world_.kill_actors();
  revoked_ = true;
  if (spares_) return fill_places();
  cluster_.at(world_.now(), [this] { resume(); });
}

bool RecoveryDriver::revive_repaired() {
  const double now = world_.now();
  for (const Repair& repair : repairs_) {
    if (repair.back_s > now) continue;
    if (pending_ || !keeps_going()) {
      world_.membership().revive(repair.rank);
      continue;
    }
    world_.membership().rejoin(repair.rank);
    for (const int rank : world_.membership().ranks_beside(repair.rank))
      if (rank < world_.workers()) training_.bring_back(rank);
  }
  return std::erase_if(repairs_, [&](const Repair& repair) { return repair.back_s <= now; }) > 0;
}

void RecoveryDriver::come_back() {
  if (over() || !revive_repaired()) return;
  if (pending_) return resume();
  if (keeps_going()) return;
  training_.aborted();
  pending_ = true;  // under elastic the others have gone on: all start again with who is back
  revoke();
}

/// A rank that a restart would wait for in vain.
std::optional<int> RecoveryDriver::lost_for_good() const {
  if (!repairs_.empty() || (spares_ && spares_->expects()) ||
      (terms_.recovery != cluster::Recovery::restart && terms_.recovery != cluster::Recovery::wait))
    return {};
  for (int rank = 0; rank < world_.size(); ++rank)
    if (!world_.alive(rank)) return rank;
  return {};
}

bool RecoveryDriver::a_worker_lives() const {
  for (int rank = 0; rank < world_.workers(); ++rank)
    if (world_.alive(rank)) return true;
  return false;
}

/// Whether a server lives on that rank's host.
bool RecoveryDriver::has_server(int rank) const {  // servers have the highest ranks
  return world_.membership().ranks_beside(rank).back() >= world_.workers();
}

/// Whether the others can go on when this rank's host is lost.
bool RecoveryDriver::goes_on_without(int rank) const {
  if (!keeps_going()) return false;
  if (has_server(rank)) return false;
  if (!terms_.workers_hold) return true;
  for (int each = 0; each < world_.workers(); ++each)
    if (replicas_.active(each) && !world_.membership().fail_together(each, rank)) return true;
  return false;
}

bool RecoveryDriver::ready() const {
  if (spares_ && spares_->lacking()) return false;
  if (repairs_.empty() || terms_.recovery == cluster::Recovery::shrink) return true;
  if (terms_.recovery != cluster::Recovery::elastic && !keeps_going()) return false;
  return a_worker_lives() && !(terms_.servers_hold && std::ranges::any_of(repairs_, [&](const Repair& repair) {
                                 return has_server(repair.rank);
                               }));
}

void RecoveryDriver::resume() {
  if (over() || !pending_ || !revoked_) return;
  revive_repaired();  // callbacks of one date come in no particular order
  if (const auto rank = lost_for_good())
    return cluster_.fail(
        fmt::format("the host of rank {} never comes back, but recovery \"{}\" waits for it; let it be repaired "
                    "(cluster.failures), or "
                    "recover by \"shrink\" or \"elastic\"",
                    *rank, cluster::name(terms_.recovery)));
  if (!ready()) return;
  pending_ = revoked_ = false;
  training_.relaunch();
}

}  // namespace simgrad::training
