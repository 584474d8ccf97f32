#include "planner/reliability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "cluster/usage/planned_hosts.h"
#include "experiment/plan/capacity_of_plan.h"
#include "outputs/text/number_text.h"
#include "planner/variants.h"

namespace simgrad::planner {

using cluster::Recovery;
using experiment::CapacitySection;
using experiment::Settings;

namespace {

/// The hosts of the runs that time the steps: on demand, without spares.
std::vector<record::HostUse> timed_hosts(const Settings& settings, std::int64_t hosts) {
  cluster::Options undisturbed = settings.cluster;
  undisturbed.failures = {};
  return cluster::planned_hosts(undisturbed, hosts);
}

/// Counts the servers of a training by [capacity], and says what one more of them rents.  hosts: of the training.
void count_servers(Reliability& all, std::int64_t hosts) {
  const Settings& settings = *all.settings;
  const std::int64_t devices = settings.cluster.devices_of_host();
  const std::int64_t a_server = devices > 1 ? devices : settings.capacity.workers_of_server(settings.cluster);
  const std::int64_t workers = std::min(hosts, settings.cluster.workers);
  all.servers = static_cast<int>((workers + a_server - 1) / a_server + hosts - workers);
  if (all.timed.empty()) return;  // on a platform's file
  record::HostUse host = all.timed.front();
  host.host_number = std::ranges::max(all.timed, {}, &record::HostUse::host_number).host_number;
  for (std::int64_t k = 0; k < a_server; ++k) {
    if (k == 0 || devices == 1) ++host.host_number;
    all.spare.push_back(host);
  }
}

/// Checkpoints by [capacity], where that says so, else by [training].  rule: where nothing says when.
void take_checkpoints(Reliability& all, const std::optional<std::string>& rule) {
  const CapacitySection& capacity = all.settings->capacity;
  const training::Options& training = all.settings->training;
  if (capacity.checkpoint_every) {
    all.rule = capacity.checkpoint_every;
  } else if (training.checkpoints()) {
    all.rule = training.checkpoint_every;
    all.every_steps = static_cast<double>(training.checkpoint_every_steps);
  } else {
    all.rule = rule;
  }
  const bool none = !all.rule && !(all.every_steps > 0.0);
  if (capacity.checkpoint_s && !none)
    all.checkpoint = {.held_up_s = *capacity.checkpoint_s, .write_s = capacity.checkpoint_write_s.value_or(0.0)};
  else if (none || !all.settings->cluster.storage_bandwidth_bytes_per_s)
    all.checkpoint = capacity::CheckpointTimes{};
}

void take_capacity(Reliability& all, std::int64_t hosts) {
  const CapacitySection& capacity = all.settings->capacity;
  all.failures = &*capacity.failures;
  all.repair = &*capacity.repair;
  count_servers(all, hosts);
  all.spares.clear();
  for (const double spares : capacity.spares) all.spares.push_back(static_cast<int>(spares));
  std::ranges::sort(all.spares);
  all.detection_s = capacity.detection_s;
  all.restart_s = capacity.restart_s;
  all.warm_up_s = capacity.warm_up_s;
  take_checkpoints(all, "daly");
}

/// Hosts that fail by [cluster.failures], each with all of its devices: those of a class, or all; on the spot market
/// those of workers alone.  devices: of the training.
int failing_hosts(const Settings& settings, std::int64_t devices) {
  const cluster::FailureProcess& process = settings.cluster.failures.of_hosts();
  std::vector<record::HostUse> all = timed_hosts(settings, devices);
  if (all.empty()) {  // on a platform's file, whose classes are not known here
    all.resize(static_cast<std::size_t>(devices));
    for (std::size_t host = 0; host < all.size(); ++host) {
      all[host].host_number = static_cast<std::int64_t>(host);
      all[host].host_class = process.only_class;
      all[host].serves = std::cmp_greater_equal(host, settings.cluster.workers);
    }
  }
  std::set<std::int64_t> failing;
  for (const record::HostUse& host : all)
    if ((!host.serves || process.concerns_servers()) &&
        (process.only_class.empty() || process.only_class == host.host_class))
      failing.insert(host.host_number);
  return static_cast<int>(failing.size());
}

void take_cluster(Reliability& all, std::size_t strategy, std::int64_t hosts) {
  const Settings& settings = *all.settings;
  const cluster::FailureOptions& failures = settings.cluster.failures;
  all.failures = &failures.of_hosts();
  all.repair = &*failures.repair;
  all.servers = failing_hosts(settings, hosts);
  all.spares = {static_cast<int>(failures.spares)};
  all.detection_s = failures.detection_s;
  all.restart_s = failures.restart_time_s;
  all.from_memory = settings.strategies[strategy].effective(settings.cluster) == Recovery::wait;
  take_checkpoints(all, {});
  const bool free = all.checkpoint && !(all.checkpoint->held_up_s + all.checkpoint->write_s > 0.0);
  all.reads_checkpoint = !free && !all.from_memory;
}

std::string not_in_closed_form(const Settings& settings, std::size_t strategy) {
  const cluster::FailureOptions& failures = settings.cluster.failures;
  if (!failures.crashes.empty()) return "crashes at given times";
  if (failures.links->happens()) return "links that fail";
  const Recovery recovery = settings.strategies[strategy].effective(settings.cluster);
  if (!failures.any() || recovery == Recovery::restart || recovery == Recovery::wait) return {};
  return fmt::format("recovery = \"{}\"", cluster::name(recovery));
}

}  // namespace

bool takes_capacity(const Settings& settings) {
  return settings.capacity.failures->happens() ||
         (experiment::disturbs_plans(settings.capacity) && !settings.cluster.failures.any());
}

bool by_closed_form(const Settings& settings, std::size_t strategy) {
  if (settings.stop.loss) return false;
  return takes_capacity(settings) || not_in_closed_form(settings, strategy).empty();
}

std::optional<Reliability> reliability_of(const Candidate& candidate, const std::shared_ptr<const Settings>& settings) {
  if (!by_closed_form(*settings, candidate.strategy)) return {};
  Reliability all{.settings = settings};
  const std::int64_t hosts = settings->strategies[candidate.strategy].hosts(settings->cluster.workers);
  all.timed = timed_hosts(*settings, hosts);
  all.rented = cluster::planned_hosts(settings->cluster, hosts);
  if (takes_capacity(*settings))
    take_capacity(all, hosts);
  else
    take_cluster(all, candidate.strategy, hosts);
  const bool free = all.checkpoint && !(all.checkpoint->held_up_s > 0.0) && !(all.checkpoint->write_s > 0.0);
  if (!all.fails() && free && !experiment::disturbs_plans(settings->capacity)) return {};
  all.life = capacity::server_life(*all.failures, *all.repair, static_cast<std::uint64_t>(settings->seed));
  all.exponential = !all.fails() || all.failures->is_memoryless();
  return all;
}

double Reliability::goodput_most(double work_s) const {
  const double up = settled(work_s) ? capacity::enough_up(servers, spares.back(), life.down_share()) : 1.0;
  return std::exp(-restart_s / mtbf_s()) * up;
}

std::string refusal_of_failures(const Candidate& candidate) {
  const Settings& settings = *candidate.settings;
  if (!settings.cluster.failures.any()) return {};
  if (settings.capacity.failures->happens())
    return "hosts fail by cluster.failures, and servers by [capacity], which a plan of an amount of training takes; "
           "leave one of them out";
  const std::string other = not_in_closed_form(settings, candidate.strategy);
  const double steps = std::ceil(candidate.samples / static_cast<double>(candidate.batch));
  if (other.empty() || steps <= steps_most) return {};
  return fmt::format(
      "the goal is an amount of training of {:.0f} steps, which is too long to be simulated with {}; expected "
      "hosts that fail at random with recovery = \"restart\" or \"wait\", a target loss, or at most {:.0f} steps",
      steps, other, steps_most);
}

}  // namespace simgrad::planner
