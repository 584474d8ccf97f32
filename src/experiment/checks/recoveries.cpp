#include "experiment/checks/recoveries.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cluster/usage/planned_hosts.h"
#include "experiment/plan/places.h"
#include "experiment/plan/selected.h"
#include "strategies/parallel/parallel.h"
#include "training/checkpoints/checkpoint_store.h"

namespace simgrad::experiment {

using cluster::Crash;
using cluster::Recovery;
using cluster::Role;
using scenario::Document;
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
  const auto never_repaired = std::ranges::count_if(failures.crashes, [](const Crash& each) { return !each.repair_s; });
  if (failures.spares > 0 && never_repaired <= failures.spares) return;
  if (failures.of_hosts().happens() && !failures.of_hosts().repairs() && !failures.repair->mean_s())
    faults.add(settings.places.recovery,
               fmt::format("recovery \"{}\" waits for hosts that are never repaired; give cluster.failures.repair = "
                           "\"constant\" or \"exponential\"{}",
                           name(recovery), or_another_way(settings, entry)));
  if (never_repaired > 0)
    faults.add(
        settings.places.crashes,
        fmt::format("recovery \"{}\" waits for a host that is never repaired; give every crash a \"repair\" time{}",
                    name(recovery), or_another_way(settings, entry)));
}

/// Whether the hosts are those that a scenario of two markets rents on demand. Nothing takes them away, so that a rule
/// has no checkpoint to ask for.
bool spared_by_market(const cluster::FailureOptions& failures, const Document& document) {
  const bool of_markets = document.contains("cluster.failures.market") || document.contains("cluster.failures.spot");
  return of_markets && failures.market == cluster::Market::on_demand && !failures.hosts_fail();
}

void check_rule(const Settings& settings, const Document& document, Faults& faults) {
  if (!settings.training.checkpoints_by_rule()) return;
  if (spared_by_market(settings.cluster.failures, document)) return;
  const std::string rule = fmt::format("checkpoint_every = \"{}\"", *settings.training.checkpoint_every);
  if (!settings.cluster.failures.of_hosts().mtbf_s())
    faults.add(settings.places.checkpoint, rule +
                                               " needs the hosts' MTBF; give cluster.failures.hosts = \"exponential\" "
                                               "or \"weibull\", a trace with faults, or a time");
  if (settings.training.checkpoint_async && !training::host_memory_bandwidth(settings.cluster))
    faults.add(
        settings.places.checkpoint,
        rule +
            " needs the time for which a checkpoint holds the ranks up; give cluster.host_memory_bandwidth, or a "
            "time");
  if (!settings.cluster.storage_bandwidth_bytes_per_s)
    faults.add(settings.places.checkpoint,
               rule + " needs what a checkpoint costs, but it is free; give cluster.storage_bandwidth, or a time");
}

void check_copies(const Settings& settings, std::size_t i, const Document& document, Faults& faults) {
  const StrategyEntry& entry = settings.strategies[i];
  if (!strategies::copies_next_stage(settings.parallel) || entry.effective(settings.cluster) == Recovery::wait) return;
  faults.add(
      place(document, "parallel.copies"),
      fmt::format("copies = \"next_stage\" are read by recovery = \"wait\" alone, but {} recovers by \"{}\"; set "
                  "cluster.failures.recovery = \"wait\", or copies = \"none\"",
                  entry.name(), name(entry.effective(settings.cluster))));
}

void check_async(const Settings& settings, const Document& document, Faults& faults) {
  if (settings.cluster.host_memory_bandwidth_bytes_per_s && !settings.training.checkpoint_async)
    faults.add(
        place(document, "cluster.host_memory_bandwidth"),
        "host_memory_bandwidth is that of checkpoints under training.checkpoint_async = true; set that, or leave "
        "it out");
  if (!settings.training.checkpoint_async) return;
  if (!settings.training.checkpoints() && !settings.capacity.any())
    faults.add(place(document, "training.checkpoint_async"),
               "checkpoint_async = true, but no checkpoints are written; give checkpoint_every or "
               "checkpoint_every_steps");
  if (!settings.cluster.storage_bandwidth_bytes_per_s)
    faults.add(place(document, "training.checkpoint_async"),
               "checkpoint_async = true writes checkpoints while the training goes on, but writing takes no time; give "
               "cluster.storage_bandwidth");
}

}  // namespace

void check_spares(const Settings& settings, const Document& document, const std::vector<std::string>& names,
                  Faults& faults) {
  const std::int64_t spares = settings.cluster.failures.spares;
  if (spares == 0) return;
  const scenario::Position at = place(document, "cluster.failures.spares");
  const std::int64_t most = cluster::host_of_device(settings.cluster, settings.cluster.workers - 1) + 1;
  if (spares > most)
    faults.add(at, fmt::format("{} spares for {} hosts of workers; expected at most as many", spares, most));
  if (!settings.jobs.empty())
    faults.add(at,
               "several jobs share the hosts, and a spare takes the place of one job's; leave spares or [[job]] out");
  if (!settings.cluster.failures.hosts_fail())
    faults.add(at,
               "spares take the places of hosts that fail, but none can; give cluster.failures.hosts or "
               "cluster.failures.crash");
  const std::vector<bool> runs = selected(settings, names);
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    if (!runs[i]) continue;
    const StrategyEntry& entry = settings.strategies[i];
    const Recovery recovery = entry.effective(settings.cluster);
    if (!waits(recovery))
      faults.add(at, fmt::format("a spare takes the place of a lost host, but {} goes on without it (recovery = "
                                 "\"{}\"); set recovery = \"restart\" or \"wait\"",
                                 entry.name(), name(recovery)));
  }
}

void check_recoveries(const Settings& settings, const Document& document, const std::vector<std::string>& names,
                      Faults& faults) {
  const std::vector<bool> runs = selected(settings, names);
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    if (!runs[i]) continue;
    check_allowed(settings, i, faults);
    check_waiting(settings, settings.strategies[i], faults);
    check_copies(settings, i, document, faults);
  }
  check_rule(settings, document, faults);
  check_async(settings, document, faults);
}

void check_crashes(const Settings& settings, Faults& faults) {
  const std::int64_t workers = settings.cluster.workers;
  for (const Crash& crash : settings.cluster.failures.crashes) {
    if (crash.role == Role::worker && crash.rank >= workers)
      faults.add(settings.places.crashes,
                 fmt::format("a crash of rank {}, but the workers are ranks 0 to {}", crash.rank, workers - 1));
    if (crash.role == Role::server && !has_server(settings, crash))
      faults.add(settings.places.crashes,
                 fmt::format("a crash of server {}, but no strategy here has that many servers; they count from 0",
                             crash.rank));
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
    if (settings.cluster.failures.spares > 0) continue;  // another host may take the place
    std::set<std::int64_t> hosts;
    for (const int device : entry.as_run()->hosts(static_cast<int>(entry.as_run()->workers(settings.cluster.workers))))
      hosts.insert(cluster::host_of_device(settings.cluster, device));
    for (std::size_t host = 0; host < outages.size(); ++host) {
      const bool has = !settings.jobs.empty() || hosts.contains(static_cast<std::int64_t>(host));
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
