#include "experiment/run/collective_ways.h"

#include <fmt/format.h>

#include <memory>

#include "cluster/computed/computed_collectives.h"
#include "experiment/plan/settings.h"

namespace simgrad::experiment {

std::string note_on_way(const cluster::ComputedCollectives& collectives) {
  switch (collectives.way()) {
    case cluster::ComputedCollectives::Way::none:
      return {};
    case cluster::ComputedCollectives::Way::apart:
      return "collectives were computed at their last arrival: no two of their transfers can be on one link at one "
             "time";
    case cluster::ComputedCollectives::Way::fair_shares:
      return "collectives were computed at their last arrival: transfers on one link share it fairly";
  }
  return {};
}

RunPlan by_messages(const RunPlan& run) {
  RunPlan changed = run;
  auto settings = std::make_shared<Settings>(*run.settings);
  settings->cluster.collectives = cluster::Collectives::messages;
  changed.settings = settings;
  return changed;
}

std::string note_on_messages(const std::string& link) {
  return fmt::format("collectives were simulated message by message: several transfers may be on link {} at one time",
                     link);
}

}  // namespace simgrad::experiment
