// The order among candidates: limits first, then the objective.
#include "planner/rank.h"

#include "catch.h"

namespace rank_test {

using namespace simgrad::planner;

TEST_CASE("A candidate that meets the limits is before any that does not") {
  simgrad::experiment::Goal goal;
  goal.deadline_s = 100.0;
  goal.budget = "10$";
  const Measures dear{.time_s = 90.0, .usd = 9.0}, late{.time_s = 110.0, .usd = 1.0}, over{.time_s = 50.0, .usd = 15.0};
  CHECK(rank_of(goal, dear) < rank_of(goal, late));
  CHECK(rank_of(goal, late) < rank_of(goal, over));
  CHECK(rank_of(goal, late).violation == Approx(0.1).epsilon(1e-12));
  CHECK(rank_of(goal, over).violation == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("Power is the mean over the training") {
  simgrad::experiment::Goal goal;
  goal.power_w = 100.0;
  CHECK(rank_of(goal, {.time_s = 10.0, .usd = 1.0, .energy_j = 1500.0}).violation == Approx(0.5).epsilon(1e-12));
  CHECK(rank_of(goal, {.time_s = 10.0, .usd = 1.0, .energy_j = 900.0}).violation == 0.0);
}

TEST_CASE("A candidate dominates another that is worse in one measure and better in none") {
  const Measures a{.time_s = 1.0, .usd = 2.0, .energy_j = 3.0}, slower{.time_s = 2.0, .usd = 2.0, .energy_j = 3.0},
      cheaper{.time_s = 2.0, .usd = 1.0, .energy_j = 3.0};
  CHECK(dominates(a, slower));
  CHECK_FALSE(dominates(slower, a));
  CHECK_FALSE(dominates(a, cheaper));
  CHECK_FALSE(dominates(cheaper, a));
  CHECK_FALSE(dominates(a, a));
}

TEST_CASE("A weighted objective adds dollars, hours and kilowatt hours") {
  simgrad::base::Slot<simgrad::experiment::Objective> objective(simgrad::experiment::objectives(), "weighted");
  CHECK(objective->value({.time_s = 3600.0, .usd = 5.0, .energy_j = 3.6e6}) == 5.0);  // by default dollars alone
}

}  // namespace rank_test
