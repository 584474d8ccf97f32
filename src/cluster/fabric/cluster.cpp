#include "cluster/fabric/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <simgrid/Exception.hpp>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "base/errors.h"
#include "cluster/fabric/flow_network.h"
#include "cluster/fabric/network_model.h"
#include "cluster/fabric/simgrid_versions.h"
#include "cluster/fabric/slow_links.h"
#include "cluster/fabric/slow_start.h"
#include "cluster/fabric/solver_precision.h"
#include "cluster/fabric/stacks.h"
#include "cluster/fabric/tenant.h"
#include "cluster/failures/link_failures.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

std::int64_t real_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// AddressSanitizer takes an exception on a stack that it does not know for an overflow; it knows those of threads.
#ifdef __SANITIZE_ADDRESS__
constexpr const char* context_factory = "--cfg=contexts/factory:thread";
#else
constexpr const char* context_factory = "--cfg=contexts/factory:raw";
#endif

}  // namespace

Cluster::Cluster(const Options& options, int hosts, bool many_to_many, std::uint64_t seed, bool few_neighbours,
                 std::int64_t side_actors)
    : options_(options), seed_(seed), many_to_many_(many_to_many), guarded_stacks_(guarded(hosts, side_actors)) {
  if (hosts > most_ranks)
    throw base::ScenarioError(fmt::format("{} ranks are too many; expected at most {}", hosts, most_ranks));
  const double allowed_ns = std::min(options.watchdog.real_s * 1e9, 9e18 - static_cast<double>(real_now_ns()));
  real_deadline_ns_ = real_now_ns() + static_cast<std::int64_t>(allowed_ns);
  const bool own_flows = options_.own_network(many_to_many);
  set_up_engine(hosts, own_flows ? Sharing::of_changed_links : sharing(hosts, many_to_many, few_neighbours),
                side_actors);
  shake_network();
  if (own_flows) flows_ = std::make_unique<FlowNetwork>(*this);
  if (!options.background.empty()) background_ = std::make_unique<Background>(*this, options.background, seed);
  if (options_.failures.links->happens()) link_failures_ = std::make_unique<LinkFailures>(*this, seed);
}

Cluster::~Cluster() = default;

/// SimGrid may overlook flows from a host with several, of which other traffic makes more. On a platform share_fairly()
/// touches every flow once more when all are past their latency.
Cluster::Sharing Cluster::sharing(int hosts, bool many_to_many, bool few_neighbours) const {
  constexpr int many_hosts = 64;  // sharing all links costs no more up to here
  if (!options_.platform.empty() || (!many_to_many && options_.background.empty())) return Sharing::of_changed_links;
  const bool sparse = few_neighbours && hosts > many_hosts && options_.background.empty();
  const bool even = options_.shares_fairly() && options_.topology->even_latencies();
  const bool steady =
      options_.jitter->latency == 0.0 && !options_.varies_latencies() && !options_.failures.links->happens();
  return sparse && even && steady ? Sharing::of_changed_links_and_late_flows : Sharing::of_all_links;
}

void Cluster::set_up_engine(int hosts, Sharing sharing, std::int64_t side_actors) {
  base::check(!sg4::Engine::is_initialized(), "one simulation a process: SimGrid's clock cannot be set back");
  // SimGrid ends the process if it cannot open the file of its log.
  std::FILE* const log = std::fopen("/dev/null", "w");
  if (!log) throw base::EnvironmentError(fmt::format("/dev/null: cannot be opened: {}", std::strerror(errno)));
  std::fclose(log);
  std::vector<std::string> words{"simgrad", context_factory, "--log=root.thresh:critical",
                                 "--log=root.app:file:/dev/null"};
  for (std::string& flag : stack_flags(hosts, side_actors)) words.push_back(std::move(flag));
  for (std::string& flag : simgrid_flags(options_.network_model)) words.push_back(std::move(flag));
  if (sharing == Sharing::of_all_links)
    for (std::string& flag : flags_for_many_to_many()) words.push_back(std::move(flag));
  // LV08 lets a link's bandwidth weigh on the flows whose acknowledgements it carries, and aborts when the link comes
  // back.
  if (options_.failures.links->happens()) words.emplace_back("--cfg=network/crosstraffic:0");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  auto count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  // SimGrid keeps the engine for the life of the process.
  sg4::Engine::get_instance(&count, arguments.data());
  sg4::Engine::on_deadlock_cb([this] { on_deadlock(); });

  if (options_.platform.empty())
    build_topology(hosts);
  else
    load_platform(hosts);
  if (options_.network_model == NetworkModel::infiniband) count_transfers_once();
  const bool by_size = options_.protocol->there();
  FlowMultiple latency = by_size ? protocol_latency(*this) : FlowMultiple();
  if (options_.starts_slowly()) latency = slow_start_latency(*this, latency);
  const bool even = options_.platform.empty() && options_.topology->even_latencies() && !latency;
  if (options_.shares_fairly() && !even) share_fairly(latency);
  if (sharing == Sharing::of_changed_links_and_late_flows) share_links_of_late_flows();
  spare_hosts(*this);
  slow_down_links(options_);
  fit_solver_precision(*this);
}

void Cluster::load_platform(int hosts) {
  // get_all_hosts() is in the order of names; ranks go by the order of the file.
  sg4::Host::on_creation_cb([this](sg4::Host& host) { hosts_.push_back(&host); });
  cluster::load_platform(options_.platform);
  if (hosts_.size() < hosts)
    throw base::ScenarioError(fmt::format("{}: the platform has {} hosts, but the ranks (servers included) are {}",
                                          options_.platform, hosts_.size(), hosts));
  hosts_.resize(hosts);
}

void Cluster::build_topology(int hosts) {
  Blueprint blueprint{.host_spec = options_.host_spec, .hosts = hosts, .workers = static_cast<int>(options_.workers)};
  if (!options_.host_classes.empty() || options_.device->there())
    for (int index = 0; index < hosts; ++index) blueprint.speeds_flops_per_s.push_back(options_.speed(index));
  hosts_ = base::ByRank(options_.topology->build(blueprint));
}

int Cluster::locality(int index) const {
  return options_.platform.empty() ? options_.topology->locality(index, static_cast<int>(options_.workers)) : index;
}

std::string Cluster::host_class(int index) const {
  if (options_.platform.empty()) {
    const HostClass* found_class = class_of(options_.host_classes, options_.workers, index);
    return found_class ? found_class->name : plain_host_class;
  }
  const char* class_name = host(index)->get_property("class");
  return class_name ? class_name : plain_host_class;
}

double Cluster::speed(int index) const { return host(index)->get_speed(); }

bool Cluster::over() const { return failed() || (!tenants_.empty() && std::ranges::all_of(tenants_, &Tenant::ended)); }

double Cluster::bandwidth(const sg4::Link& link) const {
  return link_failures_ ? link_failures_->nominal_bandwidth(link) : link.get_bandwidth();
}

double Cluster::now() const { return sg4::Engine::get_clock(); }

void Cluster::at(double time_s, std::function<void()> callback) {
  const auto date = callbacks_.insert(std::max(time_s, now()));
  simgrid::kernel::timer::Timer::set(*date, [this, date, callback = std::move(callback)] {
    callbacks_.erase(date);
    callback();
  });
}

void Cluster::start_at(double time_s, std::function<void()> callback) {
  new_actor("start", host(0), [this, time_s, callback = std::move(callback)] {
    sg4::this_actor::sleep_until(time_s);
    if (!error_.empty()) return;
    try {
      callback();
    } catch (const simgrid::ForcefulKillException&) {
      throw;
    } catch (const std::exception& error) {
      fail(error.what());
    }
  });
}

void Cluster::run() {
  sg4::Engine::get_instance()->run();
  if (!error_.empty()) throw std::runtime_error(error_);
}

void Cluster::fail(const std::string& error) {
  if (error_.empty()) error_ = error;
  kill_everyone();
}

void Cluster::kill_everyone() {
  for (Tenant* tenant : tenants_) tenant->kill_actors();
}

void Cluster::on_deadlock() {
  std::string who;
  for (const Tenant* tenant : tenants_)
    if (!tenant->ended()) who += tenant->blocked_ranks();
  if (error_.empty() && !who.empty()) error_ = fmt::format("deadlock at {} s of simulated time: {}", now(), who);
}

void Cluster::fail_if_stuck() {
  if (over()) return;
  try {
    watch();
    if (++events_ > options_.watchdog.events)
      throw std::runtime_error(
          fmt::format("given up: {} bursts of background flows, failures or changes of speed have happened since the "
                      "last step; make "
                      "them rarer, or raise watchdog.events",
                      options_.watchdog.events));
  } catch (const std::exception& error) {  // no actor's guard stands around a callback
    return fail(error.what());
  }
  const auto moves = [](const Tenant* tenant) { return !tenant->ended() && tenant->can_move(); };
  if (std::ranges::none_of(tenants_, moves)) {
    on_deadlock();
    if (!error_.empty()) kill_everyone();
  }
}

void Cluster::step() {
  events_ = 0;
  watch();
}

void Cluster::watch() {
  if (now() > options_.watchdog.simulated_s)
    throw std::runtime_error(
        fmt::format("given up: simulated time has passed watchdog.simulated = {} s", options_.watchdog.simulated_s));
  if (real_now_ns() > real_deadline_ns_)
    throw std::runtime_error(
        fmt::format("given up: simulating takes longer than watchdog.real = {} s", options_.watchdog.real_s));
}

}  // namespace simgrad::cluster
