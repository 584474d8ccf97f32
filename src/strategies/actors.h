/// The number of actors that a strategy needs in the simulator, which the system's memory maps limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "strategies/strategy.h"

namespace simgrad::strategies {

/// The refusal of more actors than a simulation holds; none if it holds them.
/// hosts: the simulation's.  what: what has an actor, as the beginning of a sentence.  fitting: what would fit, as its
/// end.
std::optional<Refusal> actors_refusal(const std::string& option, std::int64_t hosts, std::int64_t actors,
                                      const std::string& what, const std::string& fitting);

/// The most workers that fit in a simulation of that many hosts when there are `fixed` actors besides, and so many for
/// each worker.
std::int64_t workers_fitting(std::int64_t hosts, std::int64_t fixed, std::int64_t actors_a_worker);

}  // namespace simgrad::strategies
