#include "experiment/checks/hosts_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/plan/places.h"

namespace simgrad::experiment {

using scenario::Document;
using scenario::Faults;

namespace {

void check_servers(const Settings& settings, const Document& document, Faults& faults) {
  std::int64_t given = 0;
  for (const cluster::HostClass& each : settings.cluster.host_classes)
    if (each.role == cluster::HostRole::server) given += each.count;
  if (const std::int64_t most = settings.hosts_needed() - settings.cluster.workers; given > most)
    faults.add(
        place(document, "cluster.hosts"),
        fmt::format("the classes have {} hosts for servers, but no strategy has more than {}; expected at most as "
                    "many",
                    given, most));
}

}  // namespace

void check_hosts(const Settings& settings, const Document& document, Faults& faults) {
  if (settings.cluster.platform.empty())
    if (const std::string why = settings.cluster.topology->refusal(settings.cluster.host_spec, settings.hosts_needed());
        !why.empty())
      faults.add(place(document, "cluster.topology"), why);
  check_servers(settings, document, faults);
}

void check_shares(const Settings& settings, Faults& faults) {
  if (!settings.training.partition->by_speed()) return;
  const bool any_fail = settings.cluster.failures.any();
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    const cluster::Recovery recovery = settings.strategies[i].effective(settings.cluster);
    if (any_fail && (recovery == cluster::Recovery::shrink || recovery == cluster::Recovery::elastic))
      faults.add(
          settings.places.partition,
          fmt::format("shares = \"speed\" deals the batch to all ranks for good, but recovery = \"{}\" goes on with "
                      "fewer; set recovery = \"restart\", or shares = \"equal\"",
                      name(recovery)));
    if (!settings.strategies[i].strategy) continue;
    const std::string taken =
        settings.strategies[i].strategy->traits(static_cast<int>(settings.cluster.workers)).free_workers_take;
    if (!taken.empty())
      faults.add(settings.places.strategies.at(i).table,
                 fmt::format("shares = \"speed\" deals the batch by the ranks' speeds, but {} are taken by "
                             "whoever is free; set splits = 1, or shares = \"equal\"",
                             taken));
  }
}

}  // namespace simgrad::experiment
