/// The order among candidates: first by how far they miss the limits of [plan], then by its objective.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/goal.h"
#include "experiment/plan/objective.h"

namespace simgrad::planner {

using experiment::Measures;

struct Rank {
  double violation = 0.0;  ///< the largest excess over a limit, as a share of it; 0: all limits hold
  double value = 0.0;      ///< the objective's

  auto operator<=>(const Rank&) const = default;
};

/// One limit of a goal, and a measure of it.
struct Limited {
  enum class Of { deadline, budget, power } of = Of::deadline;
  double limit = 0.0;  ///< s, $ or W
  double is = 0.0;
  double excess() const { return is / limit - 1.0; }
};

/// The limits of a goal that the measures have numbers for.
std::vector<Limited> limits_of(const experiment::Goal& goal, const Measures& measures);
Rank rank_of(const experiment::Goal& goal, const Measures& measures);

/// Whether `a` is at least as good as `b` in time, money and energy, as far as both have them, and better in one.
bool dominates(const Measures& a, const Measures& b);

}  // namespace simgrad::planner
