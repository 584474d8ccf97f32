#include "cluster/ranks/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <utility>

#include "base/errors.h"
#include "cluster/computed/collective_log.h"
#include "cluster/computed/computed_collectives.h"
#include "cluster/fabric/link_class.h"
#include "cluster/recording/recorder.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

/// When the transfer started, negative if it has not.
double start_of(const sg4::Comm* transfer) { return transfer ? transfer->get_start_time() : -1.0; }

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

World::World(Cluster& cluster, std::string name, int workers, int servers, std::vector<int> hosts)
    : cluster_(cluster),
      name_(std::move(name)),
      workers_(workers),
      servers_(servers),
      ranks_(static_cast<std::size_t>(workers + servers)),
      computed_collectives_(std::make_unique<ComputedCollectives>(*this)),
      collectives_(std::make_unique<CollectiveLog>()) {
  if (hosts.empty()) {
    hosts.resize(ranks_.size());
    std::iota(hosts.begin(), hosts.end(), 0);
  }
  base::check(hosts.size() == ranks_.size(), "every rank lives on one host");
  std::unordered_map<int, int> living, cores;
  for (int rank = 0; rank < size(); ++rank) {
    const int host = ranks_[static_cast<std::size_t>(rank)].host = hosts[static_cast<std::size_t>(rank)];
    base::check(host < cluster.hosts(), "a host for every rank");
    ++living[host];
    if (rank < workers) ++cores[host];
  }
  own_hosts_ = living.size() == ranks_.size();
  for (Rank& rank : ranks_) {
    const int its_cores = std::max(1, cores[rank.host]);
    rank.shares_cores = living[rank.host] > its_cores;
    if (rank.shares_cores) loads_.try_emplace(rank.host, its_cores);
  }
  if (const std::int64_t bins = cluster.options().link_bins) bins_ = std::make_unique<LinkBins>(bins);
  if (cluster.background()) background_before_ = cluster.background()->carried();
  background_since_s_ = now();
  const Stragglers& stragglers = *cluster.options().stragglers;
  for (int rank = 0; rank < size() && stragglers.varies(); ++rank) {
    const Rank& each = ranks_[static_cast<std::size_t>(rank)];
    if (rank < workers ? stragglers.concerns(rank) : stragglers.concerns_servers())
      cluster.vary_speed(each.host, rank < workers ? std::optional(rank) : std::nullopt, each.shares_cores);
  }
  cluster_.worlds_.push_back(this);
}

World::~World() { std::erase(cluster_.worlds_, this); }

void World::begin() {
  start_s_ = now();
  for (Rank& rank : ranks_) {
    rank.account.begin(start_s_);
    if (Track* const track = rank.account.track()) track->mark_recorded(start_s_);
  }
  if (cluster_.background()) background_before_ = cluster_.background()->carried();
  background_since_s_ = start_s_;
}

void World::share_cores(int shared) {
  for (Rank& rank : ranks_) {
    if (rank.host != shared) continue;
    rank.shares_cores = true;
    loads_.try_emplace(shared, 1);
  }
}

void World::start(int rank, std::function<void()> body) { start_actor(rank, true, std::move(body)); }

std::int64_t World::start_side_actor(int rank, std::function<void()> body) {
  return start_actor(rank, false, std::move(body));
}

std::int64_t World::start_actor(int rank, bool main, std::function<void()> body) {
  if (main) ranks_[static_cast<std::size_t>(rank)].running = true;
  const sg4::ActorPtr actor =
      sg4::Actor::create(fmt::format("rank {}", rank), cluster_.host(host(rank)),
                         [this, rank, main, work = std::move(body)] { run_guarded(rank, main, work); });
  if (!main) actor->daemonize();
  const auto number = static_cast<std::size_t>(actor->get_pid());
  if (rank_of_actor_.size() <= number) rank_of_actor_.resize(number + 1, -1);
  rank_of_actor_[number] = rank;
  actors_.push_back(actor->get_pid());
  return actor->get_pid();
}

void World::run_guarded(int rank, bool main, const std::function<void()>& body) {
  Rank& self = ranks_[static_cast<std::size_t>(rank)];
  try {
    body();
  } catch (const simgrid::ForcefulKillException&) {
    throw;  // SimGrid's own way of ending an actor
  } catch (const PeerLost& lost) {
    if (on_peer_lost) {
      on_peer_lost(lost.rank());
    } else {
      cluster_.fail(fmt::format("rank {} (step {}, at {} s): {}", rank, self.step, now(), lost.what()));
    }
  } catch (const std::exception& error) {
    cluster_.fail(fmt::format("rank {} (step {}, at {} s): {}", rank, self.step, now(), error.what()));
  }
  if (main) self.running = false;
}

void World::compute(int rank, double flops, ActorState* activity, record::Work what) {
  const Rank& self = ranks_[static_cast<std::size_t>(rank)];
  const double seconds = flops / (cluster_.speed(self.host) * self.relative_speed);
  if (!(seconds > 0.0)) return;
  if (activity) {
    activity->account.enter(Account::State::computing, now());
    activity->shows({.work = what}, false);
  }
  const double alone_s = cluster_.duration(self.host, seconds);  // throws where the host stands still for ever
  if (self.shares_cores) {
    const Busy busy(loads_.at(self.host), cluster_);
    sg4::this_actor::execute(flops / self.relative_speed);
  } else {
    sg4::this_actor::sleep_for(alone_s);
  }
  if (activity) activity->account.leave(now());
}

std::string left_behind(const World& world) { return world.left_behind(); }
std::string blocked_ranks(const World& world) { return world.who_waits(); }
bool stuck(const World& world) { return world.stuck(); }

void pause(double seconds) {
  if (seconds > 0.0) sg4::this_actor::sleep_for(seconds);
}

void World::set_relative_speed(int rank, double speed) {
  ranks_.at(static_cast<std::size_t>(rank)).relative_speed = speed;
}

int World::current_rank() const {
  if (sg4::Actor::self() == nullptr) return -1;
  const auto number = static_cast<std::size_t>(sg4::this_actor::get_pid());
  return number < rank_of_actor_.size() ? rank_of_actor_[number] : -1;
}

/// The rank blocks until an actor beside it is through: what that one does meanwhile is what the rank does.
void World::follow(Rank& rank, ActorState& beside) {
  beside.account.look(now(), start_of(beside.blocked_on.transfer));
  rank.account.enter(Account::State::blocked, now());
  rank.followed = &beside;
  if (Track* const track = beside.account.track()) track->keep(true);
  rank.followed_compute_s = beside.account.compute_s();
  rank.followed_communicate_s = beside.account.communicate_s();
}

void World::settle(Rank& rank) {
  if (ActorState* const beside = rank.followed) {
    beside->account.settle(now(), start_of(beside->blocked_on.transfer));
    if (Track* const track = beside->account.track()) {
      if (rank.account.track()) rank.account.track()->tell(track->kept());
      track->keep(false);
    }
    rank.followed = nullptr;
    rank.account.leave_collective(now(), beside->account.compute_s() - rank.followed_compute_s,
                                  beside->account.communicate_s() - rank.followed_communicate_s);
  } else {
    rank.account.settle(now(), start_of(rank.blocked_on.transfer));
  }
}

void World::settle_all() {
  for (Rank& rank : ranks_) {
    settle(rank);
    if (rank.account.state() != Account::State::down) rank.account.leave(now());
    rank.blocked_on = {};
  }
}

void World::settle_down(Rank& rank) {
  settle(rank);
  rank.account.enter(Account::State::down, now());
  rank.shows({.work = record::Work::crash}, false);
  rank.blocked_on = {};
  rank.alive = false;
  rank.running = false;
}

void World::crash(int rank) {
  if (!alive(rank) || ended_) return;
  const int lost = host(rank);
  for (Rank& each : ranks_)
    if (each.host == lost) settle_down(each);
  // SimGrid forgets the transfers of a host that goes down, and so must we; one that has arrived may still be taken.
  for (Message& message : messages_)
    if (message.transfer && (host(message.channel->source) == lost || host(message.channel->target) == lost)) {
      count_started(message);
      message.transfer = nullptr;
    }
  keep_background();  // it breaks with the host, too
  cluster_.host(lost)->turn_off();
}

void World::revive(int rank) {
  if (alive(rank) || ended_) return;
  cluster_.host(host(rank))->turn_on();
  for (Rank& each : ranks_) {
    if (each.host != host(rank)) continue;
    each.account.leave(now());
    each.alive = true;
  }
}

void World::kill_actors() {
  if (!ended_) settle_all();
  computed_collectives_->dissolve();
  // What was under way will never be taken.
  for (Message& message : messages_)
    if (message.transfer) {
      count_started(message);
      release(message);
    }
  const auto self = sg4::Actor::self() ? sg4::this_actor::get_pid() : -1;
  for (const std::int64_t number : actors_)
    if (number != self)
      if (const sg4::ActorPtr actor = sg4::Actor::by_pid(number)) actor->kill();
  actors_.clear();
  if (self >= 0) actors_.push_back(self);
  for (Rank& rank : ranks_) rank.running = false;
}

void World::end() {
  if (ended_) return;
  end_s_ = now();
  if (recorder_)
    for (TimelineRecorder& tape : recorder_->tapes()) finish(tape);
  computed_collectives_->cut(end_s_);
  settle_all();
  for (Message& message : messages_) count_started(message);
  cut_.simulated_s = end_s_ - start_s_;
  for (int rank = 0; rank < size(); ++rank) {
    record::RankUse& use = cut_.ranks.emplace_back();
    use.role = rank < workers_ ? "worker" : "server";
    use.host_class = cluster_.host_class(host(rank));
    ranks_[static_cast<std::size_t>(rank)].account.add_to(use);
  }
  const auto carried = [this](int source, int target, std::int64_t bytes, std::int64_t messages) {
    cut_.bytes += bytes;
    cut_.messages += messages;
    cut_.ranks[static_cast<std::size_t>(source)].bytes_sent += bytes;
    cut_.ranks[static_cast<std::size_t>(target)].bytes_received += bytes;
  };
  for (const auto& [key, channel] : channels_) carried(channel.source, channel.target, channel.bytes, channel.messages);
  for (const auto& [ends, load] : computed_collectives_->carried())
    carried(ends.first, ends.second, load.bytes, load.messages);
  count_links();
  count_wires();
  count_hosts();
  ended_ = true;
  kill_actors();
}

void World::count(Message& message) {
  if (std::exchange(message.counted, true)) return;
  if (message.channel->local) return;
  if (recorder_ && recorder_->running()) recorder_->take(recorded(message, now()));
  message.channel->bytes += message.packet.bytes();
  ++message.channel->messages;
  if (bins_) keep_in_bins(message);
}

/// A transfer that has started counts in full, whatever becomes of it.
void World::count_started(Message& message) {
  if (start_of(message.transfer) >= 0.0) count(message);
}

void World::fill(record::Record& record) const {
  base::check(ended_, "a training is recorded once it has ended");
  record.simulated_s = cut_.simulated_s;
  record.bytes = cut_.bytes;
  record.messages = cut_.messages;
  record.ranks = cut_.ranks;
  record.hosts = cut_.hosts;
  record.links = cut_.links;
  record.link_bins = cut_.link_bins;
  record.wires = cut_.wires;
  record.collectives = collectives_->uses();
  record.timelines = timelines();
}

std::string World::left_behind() const {
  for (const Message& message : messages_)
    if (message.transfer && start_of(message.transfer) < 0.0)
      return fmt::format("rank {} has sent {} bytes to rank {}, which nobody received", message.channel->source,
                         message.packet.bytes(), message.channel->target);
  return {};
}

bool World::uncontended() const {
  const Options& options = cluster_.options();
  return options.collectives == Collectives::automatic && options.network_model == NetworkModel::ideal &&
         options.platform.empty() && own_hosts_ && cluster_.worlds_.size() == 1 && options.slow_links.empty() &&
         options.topology->uncontended() && !options.failures.any() && !options.stragglers->varies() &&
         options.jitter.kind() == "none" && options.background.empty() && options.link_bins == 0;
}

Channel& World::channel(int generation, int source, int target) {
  // 16 bits of generation and 24 of each rank: Cluster allows far fewer ranks.
  const std::uint64_t key = (static_cast<std::uint64_t>(generation) << 48) |
                            (static_cast<std::uint64_t>(source) << 24) | static_cast<std::uint64_t>(target);
  Channel& channel = channels_[key];
  if (!channel.mailbox) {
    channel.mailbox = sg4::Mailbox::by_name(mailbox_name(generation, source, target));
    channel.source = source;
    channel.target = target;
    channel.local = same_host(source, target);
  }
  return channel;
}

Message& World::new_message() {
  if (free_messages_.empty()) return messages_.emplace_back();
  Message& message = *free_messages_.back();
  free_messages_.pop_back();
  return message;
}

void World::release(Message& message) {
  if (message.transfer) intrusive_ptr_release(message.transfer);
  message = {};
  free_messages_.push_back(&message);
}

Message** World::new_landing() {
  if (free_landings_.empty()) return &landings_.emplace_back(nullptr);
  Message** landing = free_landings_.back();
  free_landings_.pop_back();
  return landing;
}

}  // namespace simgrad::cluster
