// The plans of spaces of some 2,000 candidates, against their full grids, which are kept (tests/planner/grids).
#include <sstream>

#include "catch.h"
#include "cli/scenario.h"

namespace plan_grids_test {

using namespace simgrad::tests;

namespace {

/// A full grid: the best value of the objective, and the simulation that it has taken.
struct Grid {
  std::size_t candidates = 0;
  double best = 1e300;
  double worker_steps = 0.0;
};

Grid grid_of(const std::string& name) {
  Grid grid;
  std::istringstream table(contents(SIMGRAD_SOURCE_DIR "/tests/planner/grids/" + name + ".csv"));
  std::string line;
  std::getline(table, line);
  REQUIRE(line == "value,worker_steps");
  while (std::getline(table, line)) {
    const auto comma = line.find(',');
    ++grid.candidates;
    if (comma > 0) grid.best = std::min(grid.best, std::stod(line.substr(0, comma)));
    grid.worker_steps += std::stod(line.substr(comma + 1));
  }
  return grid;
}

/// The winner is within 1 % of the true one, for a twentieth of the simulation.
void check_plan(const std::string& name, const std::string& measure) {
  const Grid grid = grid_of(name);
  REQUIRE(grid.candidates >= 1900);
  const Scratch scratch;
  const Called called = call("timeout 220 simgrad plan '" SIMGRAD_SOURCE_DIR "/tests/planner/grids/" + name +
                                 ".toml' --json --no-confirm --out out",
                             scratch.path());
  CAPTURE(called.err);
  REQUIRE(called.exit_code == 0);
  const Json plan = Json::parse(called.out);
  CHECK(plan["decided"] == true);
  CHECK(plan["space"] == grid.candidates);
  CHECK(plan["winner"][measure].get<double>() <= 1.01 * grid.best);
  CHECK(plan["winner"][measure].get<double>() >= 0.999999 * grid.best);
  CHECK(20.0 * plan["simulated"]["worker_steps"].get<double>() <= grid.worker_steps);
}

}  // namespace

TEST_CASE("plan: the cheapest of 2,000 ways to a loss, for a twentieth of the grid's simulation") {
  check_plan("learning", "cost_usd");
}

TEST_CASE("plan: the fastest of 2,000 ways over networks, for a twentieth of the grid's simulation") {
  check_plan("networks", "time_s");
}

TEST_CASE("plan: the layout of least energy out of 2,000, for a twentieth of the grid's simulation") {
  check_plan("layouts", "energy_j");
}

}  // namespace plan_grids_test
