#include "capacity/fleet.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "base/errors.h"
#include "capacity/computing.h"
#include "capacity/queue.h"

namespace simgrad::capacity {

namespace {

constexpr std::int64_t most_changes = 2'000'000;
constexpr std::size_t most_backfilled = 1000;  ///< jobs of the queue that backfilling looks at

/// Events of one moment happen in this order.
enum class Kind { end, change, detected, ready, arrival };

struct Event {
  double at_s = 0.0;
  Kind kind = Kind::end;
  int id = 0;            ///< of the job; of the server for `change`
  std::int64_t era = 0;  ///< of the job: an event of an earlier one is void

  bool operator>(const Event& other) const {
    return std::tie(at_s, kind, id) > std::tie(other.at_s, other.kind, other.id);
  }
};

enum class Phase { queued, computing, detecting, waiting, restarting, done };

struct State {
  Phase phase = Phase::queued;
  std::int64_t era = 0;  ///< counts its phases
  double since_s = 0.0;  ///< the beginning of the phase, or of the part of it that is not accounted for
  double left_s = 0.0;   ///< work that is in no checkpoint
  std::vector<int> servers = {};
};

class Fleet {
 public:
  Fleet(const FleetOptions& options, const Outages& outages, const std::vector<Job>& jobs)
      : options_(options), jobs_(jobs), servers_(options.hosts + options.spares, outages), states_(jobs.size()) {
    outcome_.jobs.resize(jobs.size());
    for (int server = 0; server < servers_.count(); ++server) plan_change(server);
    for (std::size_t j = 0; j < jobs.size(); ++j) push(jobs[j].arrival_s, Kind::arrival, static_cast<int>(j));
  }

  FleetOutcome run() {
    while (!events_.empty() && events_.top().at_s <= options_.horizon_s && !over() && goes_on()) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind != Kind::change && event.era != state(event.id).era) continue;
      advance(event.at_s);
      handle(event);
    }
    if (!over()) advance(options_.horizon_s);
    for (std::size_t j = 0; j < jobs_.size(); ++j) stop(static_cast<int>(j), false);
    outcome_.end_s = now_s_;
    return outcome_;
  }

 private:
  State& state(int job) { return states_[static_cast<std::size_t>(job)]; }
  const Job& spec(int job) const { return jobs_[static_cast<std::size_t>(job)]; }
  JobOutcome& outcome(int job) { return outcome_.jobs[static_cast<std::size_t>(job)]; }
  bool over() const { return options_.until_done && done_ == jobs_.size(); }

  bool goes_on() {
    constexpr std::int64_t now_and_then = 4096;
    return !options_.goes_on || ++asked_ % now_and_then != 0 || options_.goes_on();
  }

  void push(double at_s, Kind kind, int id) {
    events_.push({.at_s = at_s, .kind = kind, .id = id, .era = kind == Kind::change ? 0 : state(id).era});
  }
  void plan_change(int server) {
    if (const double at_s = servers_.next_change_s(server); at_s < Servers::never) push(at_s, Kind::change, server);
  }

  void advance(double now_s) {
    const double passed_s = now_s - now_s_;
    outcome_.host_time.idle_s += passed_s * servers_.free();
    outcome_.host_time.down_s += passed_s * servers_.down();
    now_s_ = now_s;
  }

  void handle(const Event& event) {
    const auto priority = [&](int job) { return spec(job).priority; };
    switch (event.kind) {
      case Kind::end:
        return end(event.id);
      case Kind::change:
        return change(event.id);
      case Kind::detected:
        enter(event.id, Phase::waiting);
        waiting_.insert(event.id);
        return serve();
      case Kind::ready:
        return compute(event.id);
      case Kind::arrival:
        queue_.insert(std::ranges::upper_bound(queue_, spec(event.id).priority, std::greater<>(), priority), event.id);
        return serve();
    }
  }

  void change(int server) {
    if (++changes_ > most_changes)
      throw base::ScenarioError(
          "servers fail more than 1,000,000 times; shorten capacity.horizon or capacity.training.limit, or "
          "let them live longer");
    const int job = servers_.job(server);
    servers_.change(server);
    plan_change(server);
    if (servers_.up(server)) return serve();
    ++outcome_.failures;
    if (job < 0) return;
    ++outcome(job).failures;
    stop(job, true);
    std::erase(state(job).servers, server);
    waiting_.erase(job);
    enter(job, Phase::detecting);
    push(now_s_ + options_.detection_s, Kind::detected, job);
  }

  Computing computing(int job) const { return computing(job, states_[static_cast<std::size_t>(job)].left_s); }

  Computing computing(int job, double work_s) const {
    const CheckpointTimes times = spec(job).checkpoint.value_or(
        CheckpointTimes{.held_up_s = options_.checkpoint_s, .write_s = options_.checkpoint_write_s});
    return {.work_s = work_s,
            .interval_s = spec(job).interval_s,
            .checkpoint_s = times.held_up_s,
            .write_s = times.write_s};
  }

  /// Accounts for the phase until now.  lost: what is not saved is lost.
  void stop(int job, bool lost) {
    State& job_state = state(job);
    HostTime& time = outcome_.host_time;
    const double passed_s = now_s_ - job_state.since_s, held = static_cast<double>(job_state.servers.size());
    job_state.since_s = now_s_;
    if (job_state.phase == Phase::waiting) time.waiting_s += passed_s * held;
    if (job_state.phase == Phase::detecting || job_state.phase == Phase::restarting) time.restart_s += passed_s * held;
    if (job_state.phase != Phase::computing) return;
    const Computing::Progress progress = computing(job).after(passed_s);
    time.useful_s += progress.saved_s * held;
    time.checkpoints_s += progress.checkpoints_s * held;
    (lost ? time.recomputed_s : time.useful_s) += progress.unsaved_s * held;
    job_state.left_s -= progress.saved_s;
  }

  /// Accounts for the phase that ends, and begins another.
  void enter(int job, Phase phase) {
    State& job_state = state(job);
    if (job_state.phase != Phase::computing) stop(job, false);
    job_state.phase = phase;
    job_state.since_s = now_s_;
    ++job_state.era;
  }

  void compute(int job) {
    enter(job, Phase::computing);
    push(now_s_ + computing(job).duration_s(), Kind::end, job);
  }

  void end(int job) {
    stop(job, false);
    state(job).phase = Phase::done;
    for (const int server : state(job).servers) servers_.release(server);
    state(job).servers.clear();
    outcome(job).end_s = now_s_;
    running_.erase(job);
    occupied_ -= spec(job).hosts;
    ++done_;
    serve();
  }

  /// Takes free servers until the job has all of its own. Returns whether it has.
  bool fill(int job) {
    State& job_state = state(job);
    while (std::cmp_less(job_state.servers.size(), spec(job).hosts)) {
      const auto server = servers_.take(job);
      if (!server) return false;
      stop(job, false);  // a phase is accounted for by the servers that it had
      job_state.servers.push_back(*server);
    }
    return true;
  }

  /// Gives free servers to the jobs that wait for one, then to the queue.
  void serve() {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const int job = *at;
      if (!fill(job)) return;
      at = waiting_.erase(at);
      enter(job, Phase::restarting);
      push(now_s_ + options_.restart_s, Kind::ready, job);
    }
    if (queue_.empty()) return;
    const int room = this->room();
    const std::vector<std::size_t> places =
        starts(looked_at(room), options_.backfill ? busy() : std::vector<Busy>(), room, now_s_, options_.backfill);
    for (const std::size_t place : places) start(queue_[place]);
    for (auto place = places.rbegin(); place != places.rend(); ++place)
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(*place));
  }

  /// The front of the queue: for backfilling so many jobs; else as many as may start, and the next.
  std::vector<Queued> looked_at(int room) const {
    std::vector<Queued> queue;
    for (const int job : queue_) {
      queue.push_back({.hosts = spec(job).hosts, .duration_s = fresh(job).duration_s()});
      room -= spec(job).hosts;
      if (options_.backfill ? queue.size() >= most_backfilled : room < 0) break;
    }
    return queue;
  }

  Computing fresh(int job) const { return computing(job, spec(job).work_s); }

  std::vector<Busy> busy() const {
    std::vector<Busy> all;
    for (const int job : running_)
      all.push_back({.hosts = spec(job).hosts, .end_s = computes_from_s(job) + computing(job).duration_s()});
    return all;
  }

  /// When a running job began to compute, or will without further failures; of one that waits the earliest time.
  double computes_from_s(int job) const {
    const State& job_state = states_[static_cast<std::size_t>(job)];
    if (job_state.phase == Phase::computing) return job_state.since_s;
    if (job_state.phase == Phase::restarting) return job_state.since_s + options_.restart_s;
    if (job_state.phase == Phase::detecting) return job_state.since_s + options_.detection_s + options_.restart_s;
    return now_s_ + options_.restart_s;
  }

  /// Servers for the queue: no more than the fleet has, and none that a running job will ask for.
  int room() const {
    const int held = servers_.count() - servers_.free() - servers_.down();
    return std::min(options_.hosts - occupied_, servers_.free() - (occupied_ - held));
  }

  void start(int job) {
    running_.insert(job);
    occupied_ += spec(job).hosts;
    fill(job);
    state(job).left_s = spec(job).work_s;
    outcome(job).start_s = now_s_;
    compute(job);
  }

  const FleetOptions& options_;
  const std::vector<Job>& jobs_;
  Servers servers_;
  std::vector<State> states_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::deque<int> queue_;  ///< by priority, then in the order of arrival
  std::set<int> running_;
  std::set<int> waiting_;  ///< those of the running jobs that wait for a server
  int occupied_ = 0;       ///< servers of running jobs, those that they lack included
  double now_s_ = 0.0;
  std::int64_t changes_ = 0;
  std::size_t done_ = 0;
  std::int64_t asked_ = 0;
  FleetOutcome outcome_;
};

}  // namespace

HostTime& HostTime::operator+=(const HostTime& other) {
  for (double HostTime::*part :
       {&HostTime::useful_s, &HostTime::down_s, &HostTime::recomputed_s, &HostTime::checkpoints_s, &HostTime::restart_s,
        &HostTime::waiting_s, &HostTime::idle_s})
    this->*part += other.*part;
  return *this;
}

FleetOutcome simulate(const FleetOptions& options, const Outages& outages, const std::vector<Job>& jobs) {
  return Fleet(options, outages, jobs).run();
}

}  // namespace simgrad::capacity
