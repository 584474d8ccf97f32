#include "strategies/actors.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/fabric/stacks.h"

namespace simgrad::strategies {

namespace {

std::int64_t actors_held(std::int64_t hosts) {
  return static_cast<std::int64_t>(cluster::actors_most(static_cast<int>(hosts)));
}

}  // namespace

std::optional<Refusal> actors_refusal(const std::string& option, std::int64_t hosts, std::int64_t actors,
                                      const std::string& what, const std::string& fitting) {
  if (actors <= actors_held(hosts)) return {};
  return Refusal{
      option, fmt::format("{}: {} in all, but a simulation holds {}; {}", what, actors, actors_held(hosts), fitting)};
}

std::int64_t workers_fitting(std::int64_t hosts, std::int64_t fixed, std::int64_t actors_a_worker) {
  return std::max<std::int64_t>(0, (actors_held(hosts) - fixed) / actors_a_worker);
}

}  // namespace simgrad::strategies
