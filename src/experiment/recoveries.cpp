#include "experiment/recoveries.h"

#include <fmt/format.h>

#include <algorithm>

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
  const std::vector<Recovery> allowed = entry.strategy->recoveries();
  if (std::ranges::find(allowed, recovery) != allowed.end()) return;
  const auto& options = settings.places.strategies.at(i).options;
  const auto own = options.find("recovery");
  faults.add(own != options.end() ? own->second : settings.places.recovery,
             fmt::format("{} cannot recover by \"{}\"; expected one of {}{}", entry.name(), name(recovery), listed(allowed),
                         own != options.end() ? "" : " (as `recovery` of that [[strategy]])"));
}

bool has_server(const Settings& settings, const Crash& crash) {
  return std::ranges::any_of(settings.strategies, [&](const StrategyEntry& entry) {
    const auto P = static_cast<int>(entry.strategy->workers(settings.cluster.workers));
    return std::cmp_less(crash.rank, entry.strategy->hosts(P).size() - static_cast<std::size_t>(P));
  });
}

}  // namespace

void check_recoveries(const Settings& settings, Faults& faults) {
  const cluster::FailureOptions& failures = settings.cluster.failures;
  const auto any_by = [&](Recovery recovery) {
    return std::ranges::any_of(settings.strategies, [&](const StrategyEntry& entry) {
      return entry.effective(settings.cluster) == recovery;
    });
  };
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) check_allowed(settings, i, faults);
  if (failures.of_hosts().happens() && !failures.of_hosts().repairs() && !failures.repair->mean_s())
    for (const Recovery waiting : {Recovery::restart, Recovery::wait})
      if (any_by(waiting))
        faults.add(settings.places.recovery,
                   fmt::format("recovery \"{}\" waits for hosts that are never repaired; give cluster.failures.repair = "
                               "\"constant\" or \"exponential\", or set recovery = \"shrink\" or \"elastic\"",
                               name(waiting)));
  if (settings.training.checkpoints_by_rule()) {
    const std::string rule = fmt::format("checkpoint_every = \"{}\"", *settings.training.checkpoint_every);
    if (!failures.of_hosts().mtbf_s())
      faults.add(settings.places.checkpoint,
                 rule + " needs the hosts' MTBF; give cluster.failures.hosts = \"exponential\" or \"weibull\", or a time");
    if (!settings.cluster.storage_bandwidth_bytes_per_s)
      faults.add(settings.places.checkpoint,
                 rule + " needs what a checkpoint costs, but it is free; give cluster.storage_bandwidth, or a time");
  }
  for (const Crash& crash : failures.crashes) {
    if (failures.recovery == Recovery::shrink && crash.repair_s)
      faults.add(settings.places.crashes,
                 "recovery = \"shrink\" goes on without the host for good; leave \"repair\" out, or set recovery = "
                 "\"restart\" or \"elastic\"");
    for (const Recovery waiting : {Recovery::restart, Recovery::wait})
      if (!crash.repair_s && any_by(waiting))
        faults.add(settings.places.crashes,
                   fmt::format("recovery \"{}\" waits for a host that is never repaired; give every crash a \"repair\" "
                               "time, or set recovery = \"shrink\" or \"elastic\"",
                               name(waiting)));
    if (crash.role == Role::server && !has_server(settings, crash))
      faults.add(settings.places.crashes,
                 fmt::format("a crash of server {}, but no strategy here has so many servers; they count from 0", crash.rank));
  }
}

}  // namespace simgrad::experiment
