#include "cluster/ranks/world.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/errors.h"
#include "cluster/computed/collective_log.h"
#include "cluster/computed/computed_collectives.h"
#include "cluster/computed/measured.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/deadlock.h"
#include "cluster/ranks/equal_work.h"
#include "cluster/ranks/local_groups.h"
#include "cluster/ranks/membership.h"
#include "cluster/ranks/messenger.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/recording/timeline_recording.h"
#include "cluster/usage/traffic.h"
#include "cluster/usage/usage.h"

namespace simgrad::cluster {

namespace {

/// Rank r on host r.
std::vector<int> own_hosts(int ranks) {
  std::vector<int> hosts(static_cast<std::size_t>(ranks));
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

/// Null: nothing was measured.
std::unique_ptr<const MeasuredCollectives> measured_of(const Options& options) {
  if (options.measured.empty()) return nullptr;
  return std::make_unique<const MeasuredCollectives>(read_measured(options.measured, options.measured_ranks));
}

}  // namespace

World::World(Cluster& cluster, std::string name, int workers, int servers, std::vector<int> hosts)
    : cluster_(cluster),
      name_(std::move(name)),
      workers_(workers),
      size_(workers + servers),
      timekeeper_(std::make_unique<Timekeeper>(cluster, workers_, size_)),
      ranks_(std::make_unique<Ranks>(cluster, *timekeeper_, workers, servers,
                                     hosts.empty() ? own_hosts(size_) : std::move(hosts))),
      equal_work_(std::make_unique<EqualWork>(cluster, *ranks_, *timekeeper_)),
      membership_(std::make_unique<Membership>(*this)),
      traffic_(std::make_unique<Traffic>(cluster)),
      recording_(std::make_unique<TimelineRecording>(*this)),
      messenger_(std::make_unique<Messenger>(*this)),
      localities_(std::make_unique<Localities>(*this)),
      collective_log_(std::make_unique<CollectiveLog>()),
      measured_(measured_of(cluster.options())),
      computed_collectives_(std::make_unique<ComputedCollectives>(*this)) {
  cluster_.admit(*this);
}

World::~World() { cluster_.dismiss(*this); }

double World::now() const { return cluster_.now(); }

int World::host(int rank) const { return ranks_->host(rank); }

bool World::alive(int rank) const { return membership_->alive(rank); }

void World::begin() {
  start_s_ = now();
  timekeeper_->begin();
  traffic_->begin();
}

void World::set_stand_ins(std::unique_ptr<const StandIns> stand_ins) {
  stand_ins_ = std::move(stand_ins);
  ranks_->count_flops_for(repeats());
}

bool World::one_stands_for_all(const std::vector<int>& ranks) const {
  return stand_ins_ && ranks.size() > 1 &&
         stand_ins_->of[static_cast<std::size_t>(ranks[0])] == stand_ins_->of[static_cast<std::size_t>(ranks[1])];
}

void World::kill_actors() {
  if (!ended_) {
    computed_collectives_->break_off();
    timekeeper_->close_all(record::TimePart::wait_recovery);
  }
  collective_log_->forget_actors();
  computed_collectives_->dissolve();
  messenger_->drop_all();
  ranks_->kill_all();
}

void World::end() {
  if (ended_) return;
  recording_->finish();
  computed_collectives_->cut(now());
  timekeeper_->close_all(record::TimePart::wait_other);
  if (!cluster_.failed()) collective_log_->cut(*this, now());  // actors of a run that failed are gone
  messenger_->count_started();
  messenger_->post(*traffic_);
  computed_collectives_->post(*traffic_);
  if (stand_ins_) traffic_->repeat(*stand_ins_);
  traffic_->read_background();
  at_end_ = std::make_unique<record::Record>(usage_of(*this));
  ended_ = true;
  kill_actors();
}

void World::fill(record::Record& record) const {
  base::check(ended_, "a training is recorded once it has ended");
  record.simulated_s = at_end_->simulated_s;
  record.bytes = at_end_->bytes;
  record.messages = at_end_->messages;
  record.ranks = at_end_->ranks;
  record.hosts = at_end_->hosts;
  record.links = at_end_->links;
  record.link_bins = at_end_->link_bins;
  record.wires = at_end_->wires;
  record.notes = at_end_->notes;
  if (measured_) record.notes.insert(record.notes.end(), measured_->notes().begin(), measured_->notes().end());
  record.collectives = collective_log_->uses();
  record.timelines = recording_->timelines();
}

bool World::computes_collectives() const {
  const bool beside_own_messages = cluster_.options().failures.any() && cluster_.many_to_many();
  return cluster_.options().computes_collectives() && ranks_->own_hosts() && cluster_.tenants() == 1 &&
         !beside_own_messages;
}

bool World::can_move() const { return !stuck(*this) || (recovering && recovering()); }

std::string World::blocked_ranks() const { return cluster::blocked_ranks(*this); }

}  // namespace simgrad::cluster
