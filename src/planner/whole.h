/// Candidates simulated to their ends, under given seeds and changes of their scenarios.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "planner/judge.h"

namespace simgrad::planner {

/// Returns the measures by candidate and seed; nothing where a candidate does not come to the goal.
/// Returns no rows at all if the time is up before.
std::vector<std::vector<std::optional<Measures>>> whole_measures(
    const std::vector<Candidate>& candidates, Laboratory& laboratory, const std::vector<std::size_t>& chosen,
    const std::vector<std::uint64_t>& seeds, const Changes& changes, const std::function<void()>& tick);

/// The means over seeds.  all: at least one, none of them nothing.
Measures mean_over(const std::vector<std::optional<Measures>>& all);

}  // namespace simgrad::planner
