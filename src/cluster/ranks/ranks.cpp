#include "cluster/ranks/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <utility>

#include "base/errors.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/flow_network.h"
#include "cluster/fabric/interference.h"
#include "cluster/fabric/simgrid_versions.h"
#include "cluster/fabric/stacks.h"
#include "cluster/ranks/peer_lost.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/timekeeper.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

/// While it lives, one more rank computes on the host; its actor may be killed meanwhile.
class Busy {
 public:
  Busy(CoreLoad& load, const Cluster& cluster) : load_(load), cluster_(cluster) { load_.begin(cluster_.now()); }
  ~Busy() { load_.end(cluster_.now()); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  CoreLoad& load_;
  const Cluster& cluster_;
};

}  // namespace

void pause(double seconds) {
  if (seconds > 0.0) sg4::this_actor::sleep_for(seconds);
}

Ranks::Ranks(Cluster& cluster, Timekeeper& timekeeper, int workers, int servers, const std::vector<int>& hosts)
    : cluster_(cluster), timekeeper_(timekeeper), workers_(workers), ranks_(workers + servers) {
  base::check(std::cmp_equal(hosts.size(), ranks_.size()), "every rank lives on one host");
  place(hosts);
  const Stragglers& stragglers = *cluster.options().stragglers;
  for (int rank = 0; rank < size() && stragglers.varies(); ++rank)
    if (rank < workers ? stragglers.concerns(rank) : stragglers.concerns_servers())
      cluster.vary_speed(host(rank), rank < workers ? std::optional(rank) : std::nullopt, shares_cores(rank));
}

void Ranks::place(const std::vector<int>& hosts) {
  std::unordered_map<int, int> living, cores;
  for (int rank = 0; rank < size(); ++rank) {
    const int host = ranks_[rank].host = hosts[static_cast<std::size_t>(rank)];
    base::check(host < cluster_.hosts(), "a host for every rank");
    ++living[host];
    if (rank < workers_) ++cores[host];
  }
  own_hosts_ = std::cmp_equal(living.size(), ranks_.size());
  for (Rank& rank : ranks_) {
    const int its_cores = std::max(1, cores[rank.host]);
    rank.shares_cores = living[rank.host] > its_cores;
    if (rank.shares_cores) loads_.try_emplace(rank.host, its_cores);
  }
}

void Ranks::share_cores(int shared) {
  for (Rank& rank : ranks_) {
    if (rank.host != shared) continue;
    rank.shares_cores = true;
    loads_.try_emplace(shared, 1);
  }
}

std::optional<double> Ranks::shared_cores_busy_s(int host, double now) const {
  const auto load = loads_.find(host);
  if (load == loads_.end()) return {};
  return load->second.busy_s(now);
}

void Ranks::start(int rank, std::function<void()> body) { start_actor(rank, true, std::move(body)); }

std::int64_t Ranks::start_side_actor(int rank, std::function<void()> body) {
  base::check(
      !cluster_.guarded_stacks() || std::cmp_less(sg4::Engine::get_instance()->get_actor_count(), guarded_actors_most),
      "a cluster knows of many actors in addition to the ranks");
  return start_actor(rank, false, std::move(body));
}

std::int64_t Ranks::start_actor(int rank, bool main, std::function<void()> body) {
  if (main) ranks_[rank].running = true;
  // The new actor may run before the calling one does, and the calling one may be killed before it runs again.
  const sg4::ActorPtr actor = new_actor(fmt::format("rank {}", rank), cluster_.host(host(rank)),
                                        [this, rank, main, killed = killed_, work = std::move(body)] {
                                          enlist(rank);
                                          // A host that crashes at this very moment does not kill an actor that has not
                                          // begun.
                                          const bool lives = killed == killed_ && (!main || ranks_[rank].running);
                                          if (lives) run_guarded(rank, main, work);
                                          // SimGrid keeps a daemon for ever that ends before it is made one.
                                          if (!main) sg4::this_actor::yield();
                                        });
  if (!main) actor->daemonize();
  return actor->get_pid();
}

/// Takes the calling actor among those of the rank.
void Ranks::enlist(int rank) {
  const auto number = static_cast<std::size_t>(sg4::this_actor::get_pid());
  if (rank_of_actor_.size() <= number) rank_of_actor_.resize(number + 1, -1);
  rank_of_actor_[number] = rank;
  actors_.push_back(sg4::this_actor::get_pid());
}

void Ranks::fail(int rank, const char* what) {
  cluster_.fail(fmt::format("rank {} (step {}, at {} s): {}", rank, step(rank), cluster_.now(), what));
}

void Ranks::run_guarded(int rank, bool main, const std::function<void()>& body) {
  try {
    body();
  } catch (const simgrid::ForcefulKillException&) {
    throw;  // SimGrid's own way of ending an actor
  } catch (const PeerLost& lost) {
    if (main) timekeeper_.await_recovery(rank);
    if (!on_peer_lost) fail(rank, lost.what());
  } catch (const std::exception& error) {
    fail(rank, error.what());
  }
  if (main) stopped(rank);
}

void Ranks::lose_peer(int rank, bool main, int lost) {
  if (!on_peer_lost) return;
  if (main) timekeeper_.await_recovery(rank);
  on_peer_lost(lost);
}

void Ranks::stand_still() { sg4::Semaphore::create(0)->acquire(); }

void Ranks::kill(std::int64_t actor) {
  if (const sg4::ActorPtr found = sg4::Actor::by_pid(static_cast<aid_t>(actor))) found->kill();
}

void Ranks::kill_all() {
  const auto self = sg4::Actor::self() ? sg4::this_actor::get_pid() : -1;
  ++killed_;  // an actor that begins while others are killed ends at once
  for (const std::int64_t actor : std::exchange(actors_, {}))
    if (actor != self) kill(actor);
  if (self >= 0) actors_.push_back(self);
  for (Rank& rank : ranks_) rank.running = false;
}

int Ranks::current_rank() const {
  if (sg4::Actor::self() == nullptr) return -1;
  const auto number = static_cast<std::size_t>(sg4::this_actor::get_pid());
  return number < rank_of_actor_.size() ? rank_of_actor_[number] : -1;
}

void Ranks::set_number_bytes(double bytes) {
  for (Rank& rank : ranks_)
    if (cluster_.device(rank.host)) rank.reduction_scale = bytes / 8.0;
}

double Ranks::nominal_s(int rank, double flops) const {
  const Rank& self = ranks_[rank];
  return flops / (cluster_.speed(self.host) * self.relative_speed);
}

void Ranks::compute(int rank, double flops, record::Work work) const {
  compute(rank, flops, &timekeeper_.main(rank), work);
}

void Ranks::compute(int rank, double flops, ActorState* actor, record::Work work) const {
  const double seconds = nominal_s(rank, flops);
  if (!(seconds > 0.0)) return;
  const Rank& self = ranks_[rank];
  const BusyScope computing(cluster_, actor, {.work = work});
  const double alone_s = cluster_.duration(self.host, seconds);  // throws where the host stands still for ever
  Interference* const interference = cluster_.flows() ? cluster_.flows()->interference() : nullptr;
  if (interference && Interference::concerns(work)) {
    base::check(!self.shares_cores, "work that messages slow down shares no cores");
    interference->compute(self.host, alone_s);
  } else if (self.shares_cores) {
    const Busy busy(loads_.at(self.host), cluster_);
    sg4::this_actor::execute(flops / self.relative_speed);
  } else {
    sg4::this_actor::sleep_for(alone_s);
  }
  count_flops(flops);
}

}  // namespace simgrad::cluster
