/// The simulated hosts, their links and the clock of one run: owns the SimGrid engine. One a process, ever.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/by_rank.h"
#include "base/child_process.h"
#include "cluster/fabric/speed_timeline.h"
#include "cluster/options.h"

namespace simgrid::s4u {
class Host;
class Link;
}  // namespace simgrid::s4u

namespace simgrad::cluster {

class FlowNetwork;
class Tenant;

class Cluster {
 public:
  /// Builds `hosts` hosts (on a platform: takes its first ones), ranks in order.
  /// many_to_many: several ranks send to several at a time; see flows(), and flags_for_many_to_many in
  /// network_model.h.
  /// seed: of the random draws for hosts and links.
  /// few_neighbours: of many_to_many: each rank sends to a few others, so that a change concerns few of the flows.
  /// side_actors: the most actors beside the ranks, if they may be many: they decide about the stacks.
  /// Errors: base::ScenarioError for a platform that is malformed or too small.
  Cluster(const Options& options, int hosts, bool many_to_many = false, std::uint64_t seed = 1,
          bool few_neighbours = false, std::int64_t side_actors = 0);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  const Options& options() const { return options_; }
  int hosts() const { return hosts_.size(); }
  simgrid::s4u::Host* host(int index) const { return hosts_.at(index); }
  /// Equal for hosts near each other: devices of one machine, hosts of a rack.
  int locality(int host) const;
  /// The name of its class in [[cluster.hosts]], on a platform its property <prop id="class">; else "host".
  std::string host_class(int host) const;
  /// The host's device; null: it has none, and all flops take their time at its speed.
  const Device* device(int host) const { return options_.device_of(host); }
  /// Sustained flop/s of a host at nominal speed; with a device see Device::additions_per_s.
  double speed(int host) const;
  /// The duration from now on of work that takes `work_s` seconds at nominal speed; infinite if it never ends.
  double duration(int host, double work_s) const { return timelines_.empty() ? work_s : varied_duration(host, work_s); }
  /// Makes a host's speed change as the scenario's stragglers say of that worker's host (none: a server's).
  /// shares_cores: ranks compute on it by SimGrid's fair sharing of cores, which then follows the same changes.
  void vary_speed(int host, std::optional<int> worker, bool shares_cores);

  /// The bytes that a link carries in a second, whether it is up now or not.
  double bandwidth(const simgrid::s4u::Link& link) const;

  /// The network of messages between ranks; null: SimGrid's. It is ours where several ranks send to several at a time
  /// and links are constant, as collectives are computed: the times are the same, and come much faster.
  FlowNetwork* flows() const { return flows_.get(); }

  /// Whether ranks send messages of their own to several others at a time.
  bool many_to_many() const { return many_to_many_; }

  /// Whether stacks of actors have guard pages, and actors are fewer than guarded_actors_most.
  bool guarded_stacks() const { return guarded_stacks_; }

  double now() const;

  /// Calls back when the clock shows that time, outside every actor; not after the last actor has ended.
  void at(double time_s, std::function<void()> callback);
  /// When the next of them comes; infinite: none does.
  double next_callback_s() const {
    return callbacks_.empty() ? std::numeric_limits<double>::infinity() : *callbacks_.begin();
  }

  /// Calls back at that time, in an actor, which keeps the clock going until then.
  void start_at(double time_s, std::function<void()> callback);

  /// Runs until every actor has ended. Errors: std::runtime_error with rank, step and virtual time for whatever an
  /// actor threw, for a deadlock (who waits for whom), and for the watchdog.
  void run();

  /// Ends the run with this error: all actors die, and `run` throws it. The first error wins.
  void fail(const std::string& error);
  /// Other traffic; null where there is none.
  Background* background() const { return background_.get(); }

  /// A training runs on the cluster until it is dismissed.
  void admit(Tenant& tenant) { tenants_.push_back(&tenant); }
  void dismiss(const Tenant& tenant) { std::erase(tenants_, &tenant); }
  int tenants() const { return static_cast<int>(tenants_.size()); }

  bool failed() const { return !error_.empty(); }
  /// The run cannot be right, since transfers of computed collectives may meet others on that link.
  void contended(const std::string& link) { contended_link_ = link; }
  /// Empty: there was none.
  const std::string& contended_link() const { return contended_link_; }
  /// Whether no training is at work any more: then callbacks of the clock must not call themselves again.
  bool over() const;
  /// Ends the run if every rank of every world waits for something that can never come, or if the watchdog's time is
  /// over. For callbacks of a clock that goes on by itself.
  void fail_if_stuck();
  /// Errors: std::runtime_error once the watchdog's simulated or real time is over.
  void watch();
  /// Called by actors at every step. Errors: as watch.
  void step();

 private:
  enum class Sharing { of_changed_links, of_changed_links_and_late_flows, of_all_links };
  Sharing sharing(int hosts, bool many_to_many, bool few_neighbours) const;
  void set_up_engine(int hosts, Sharing sharing, std::int64_t side_actors);
  void build_topology(int hosts);
  void load_platform(int hosts);
  void on_deadlock();
  void kill_everyone();
  void shake_network();
  double varied_duration(int host, double work_s) const;

  Options options_;
  std::uint64_t seed_;
  bool many_to_many_;
  bool guarded_stacks_;
  base::ByRank<simgrid::s4u::Host*> hosts_;
  mutable std::map<int, SpeedTimeline> timelines_;  ///< by host whose speed varies
  std::multiset<double> callbacks_;                 ///< the dates of those to come
  std::vector<Tenant*> tenants_;
  std::unique_ptr<Background> background_;
  std::unique_ptr<FlowNetwork> flows_;
  std::unique_ptr<class LinkFailures> link_failures_;  ///< null: links do not fail
  std::string contended_link_;
  std::string error_;
  std::int64_t real_deadline_ns_ = 0;
  std::int64_t events_ = 0;  ///< of clocks that go on by themselves, since the latest step
};

/// The contents of a platform file, read in a process of its own, since SimGrid ends the process on some faults.
struct PlatformProbe {
  int hosts = 0;
  double speed_flops_per_s = 0.0;  ///< the first host's
  std::string error;               ///< `file:line: what`, or empty
};

/// Limits of loading a platform: 10 s of processor time, a minute, and half of the free memory up to 8 GiB.
base::ResourceLimits probe_limits();

/// Errors: base::EnvironmentError for a file that cannot be read, or that is no regular one.
PlatformProbe probe_platform(const std::string& file, const base::ResourceLimits& limits = probe_limits());

}  // namespace simgrad::cluster
