#include "experiment/checks/recoveries.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/plan/selected.h"

namespace simgrad::experiment {

using cluster::Crash;
using cluster::Recovery;
using cluster::Role;
using scenario::Faults;

namespace {

std::string listed(const std::vector<Recovery>& recoveries) {
  std::string text;
  for (const Recovery each : recoveries) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(each));
  return text;
}

void check_allowed(const Settings& settings, std::size_t i, Faults& faults) {
  const StrategyEntry& entry = settings.strategies[i];
  const Recovery recovery = entry.effective(settings.cluster);
  const std::vector<Recovery> allowed = entry.as_run()->traits(static_cast<int>(settings.cluster.workers)).recoveries;
  if (std::ranges::find(allowed, recovery) != allowed.end()) return;
  const auto& options = settings.places.strategies.at(i).options;
  const auto own = options.find("recovery");
  faults.add(own != options.end() ? own->second : settings.places.recovery,
             fmt::format("{} cannot recover by \"{}\"; expected one of {}{}", entry.name(), name(recovery),
                         listed(allowed), own != options.end() ? "" : " (as `recovery` of that [[strategy]])"));
}

bool has_server(const Settings& settings, const Crash& crash) {
  return std::ranges::any_of(settings.strategies, [&](const StrategyEntry& entry) {
    const auto P = static_cast<int>(entry.as_run()->workers(settings.cluster.workers));
    return std::cmp_less(crash.rank, entry.as_run()->hosts(P).size() - static_cast<std::size_t>(P));
  });
}

bool waits(Recovery recovery) { return recovery == Recovery::restart || recovery == Recovery::wait; }

/// The tail of a fault that names other recoveries for a strategy that waits; empty if it has none.
std::string or_another_way(const Settings& settings, const StrategyEntry& entry) {
  std::string ways;
  for (const Recovery each : entry.as_run()->traits(static_cast<int>(settings.cluster.workers)).recoveries)
    if (!waits(each)) ways += fmt::format("{}\"{}\"", ways.empty() ? "" : " or ", name(each));
  return ways.empty() ? "" : fmt::format(", or let {} recover by {}", entry.name(), ways);
}

void check_waiting(const Settings& settings, const StrategyEntry& entry, Faults& faults) {
  const Recovery recovery = entry.effective(settings.cluster);
  if (!waits(recovery)) return;
  const cluster::FailureOptions& failures = settings.cluster.failures;
  if (failures.of_hosts().happens() && !failures.of_hosts().repairs() && !failures.repair->mean_s())
    faults.add(settings.places.recovery,
               fmt::format("recovery \"{}\" waits for hosts that are never repaired; give cluster.failures.repair = "
                           "\"constant\" or \"exponential\"{}",
                           name(recovery), or_another_way(settings, entry)));
  if (std::ranges::any_of(failures.crashes, [](const Crash& crash) { return !crash.repair_s; }))
    faults.add(
        settings.places.crashes,
        fmt::format("recovery \"{}\" waits for a host that is never repaired; give every crash a \"repair\" time{}",
                    name(recovery), or_another_way(settings, entry)));
}

void check_rule(const Settings& settings, Faults& faults) {
  if (!settings.training.checkpoints_by_rule()) return;
  const std::string rule = fmt::format("checkpoint_every = \"{}\"", *settings.training.checkpoint_every);
  if (!settings.cluster.failures.of_hosts().mtbf_s())
    faults.add(
        settings.places.checkpoint,
        rule + " needs the hosts' MTBF; give cluster.failures.hosts = \"exponential\" or \"weibull\", or a time");
  if (!settings.cluster.storage_bandwidth_bytes_per_s)
    faults.add(settings.places.checkpoint,
               rule + " needs what a checkpoint costs, but it is free; give cluster.storage_bandwidth, or a time");
}

}  // namespace

void check_recoveries(const Settings& settings, const std::vector<std::string>& names, Faults& faults) {
  const std::vector<bool> runs = selected(settings, names);
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    if (!runs[i]) continue;
    check_allowed(settings, i, faults);
    check_waiting(settings, settings.strategies[i], faults);
  }
  check_rule(settings, faults);
}

void check_crashes(const Settings& settings, Faults& faults) {
  const std::int64_t workers = settings.cluster.workers;
  for (const Crash& crash : settings.cluster.failures.crashes) {
    if (crash.role == Role::worker && crash.rank >= workers)
      faults.add(settings.places.crashes,
                 fmt::format("a crash of rank {}, but the workers are ranks 0 to {}", crash.rank, workers - 1));
    if (crash.role == Role::server && !has_server(settings, crash))
      faults.add(
          settings.places.crashes,
          fmt::format("a crash of server {}, but no strategy here has so many servers; they count from 0", crash.rank));
  }
}

void check_traced_recoveries(const Settings& settings, const std::vector<std::string>& names, Faults& faults) {
  const cluster::FailureProcess& failures = settings.cluster.failures.of_hosts();
  const std::vector<std::vector<cluster::Outage>> outages = failures.known_outages();
  const std::vector<bool> runs = selected(settings, names);
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    const StrategyEntry& entry = settings.strategies[i];
    const Recovery recovery = entry.effective(settings.cluster);
    if (!runs[i] || !waits(recovery)) continue;
    const std::vector<int> hosts =
        entry.as_run()->hosts(static_cast<int>(entry.as_run()->workers(settings.cluster.workers)));
    for (std::size_t host = 0; host < outages.size(); ++host) {
      const bool has = !settings.jobs.empty() || std::ranges::find(hosts, static_cast<int>(host)) != hosts.end();
      if (!has || outages[host].empty() || outages[host].back().up_s) continue;
      faults.add(
          settings.places.recovery,
          fmt::format("recovery \"{}\" waits for host {}, which never comes back in {}; give its last line an up_at{}",
                      name(recovery), host, failures.files().front(), or_another_way(settings, entry)));
      break;
    }
  }
}

}  // namespace simgrad::experiment
