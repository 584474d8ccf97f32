#include "planner/rank.h"

#include <algorithm>

namespace simgrad::planner {

std::vector<Limited> limits_of(const experiment::Goal& goal, const Measures& measures) {
  std::vector<Limited> all;
  if (goal.deadline_s) all.push_back({Limited::Of::deadline, *goal.deadline_s, measures.time_s});
  if (const auto budget = goal.budget_usd(); budget && measures.usd)
    all.push_back({Limited::Of::budget, *budget, *measures.usd});
  if (goal.power_w && measures.energy_j && measures.time_s > 0.0)
    all.push_back({Limited::Of::power, *goal.power_w, *measures.energy_j / measures.time_s});
  return all;
}

Rank rank_of(const experiment::Goal& goal, const Measures& measures) {
  Rank rank{.violation = 0.0, .value = goal.objective->value(measures)};
  for (const Limited& limited : limits_of(goal, measures)) rank.violation = std::max(rank.violation, limited.excess());
  return rank;
}

bool dominates(const Measures& a, const Measures& b) {
  bool better = a.time_s<b.time_s, worse = a.time_s> b.time_s;
  const auto compare = [&](const std::optional<double>& of_a, const std::optional<double>& of_b) {
    if (!of_a || !of_b) return;
    better = better || *of_a < *of_b;
    worse = worse || *of_a > *of_b;
  };
  compare(a.usd, b.usd);
  compare(a.energy_j, b.energy_j);
  return better && !worse;
}

}  // namespace simgrad::planner
