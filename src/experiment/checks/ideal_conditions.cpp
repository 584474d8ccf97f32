#include "experiment/checks/ideal_conditions.h"

#include <fmt/format.h>

namespace simgrad::experiment {

std::vector<std::string> notes_on_ideal_conditions(const cluster::Options& cluster) {
  constexpr std::int64_t many = 1000;
  if (cluster.workers <= many || cluster.stragglers->disturbs() || !cluster.relative_speeds.empty()) return {};
  return {fmt::format(
      "{} workers compute equally fast at all times; at this scale real trainings lose time to slow devices "
      "and to launches that drift apart, which cluster.stragglers models (kind = \"megascale\")",
      cluster.workers)};
}

}  // namespace simgrad::experiment
