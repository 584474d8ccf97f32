#include "experiment/checks/ideal_conditions.h"

#include <fmt/format.h>

namespace simgrad::experiment {

std::vector<std::string> notes_on_ideal_conditions(const cluster::Options& cluster) {
  constexpr std::int64_t many = 1000;
  if (cluster.workers <= many || cluster.stragglers->disturbs() || cluster.jitter->disturbs()) return {};
  return {fmt::format(
      "{} workers run without stragglers and jitter: at this scale real trainings lose time to slow devices "
      "and to launches that drift apart; cluster.stragglers and cluster.jitter add them",
      cluster.workers)};
}

}  // namespace simgrad::experiment
