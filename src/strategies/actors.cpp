#include "strategies/actors.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/ranks/ranks.h"

namespace simgrad::strategies {

namespace {

constexpr auto actors_held = static_cast<std::int64_t>(cluster::actors_most);

}  // namespace

std::optional<Refusal> actors_refusal(const std::string& option, std::int64_t actors, const std::string& what,
                                      const std::string& fitting) {
  if (actors <= actors_held) return {};
  return Refusal{option,
                 fmt::format("{}: {} in all, but a simulation holds {}; {}", what, actors, actors_held, fitting)};
}

std::int64_t workers_fitting(std::int64_t fixed, std::int64_t actors_a_worker) {
  return std::max<std::int64_t>(0, (actors_held - fixed) / actors_a_worker);
}

}  // namespace simgrad::strategies
