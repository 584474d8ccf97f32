// Placed steps whose messages share links, against times that are worked out by hand.
#include "strategies/operators/shared_links.h"

#include "catch.h"
#include "strategies/operators/placements.h"
#include "strategies/placement_problems.h"

namespace shared_links_test {

using namespace simgrad;
using namespace simgrad::tests;
using namespace simgrad::strategies;

namespace {

constexpr double exact = 1e-12;

/// Three devices, each with a link out (0, 1, 2) and one in (3, 4, 5) of 2 B/s; a path has a latency of 0.5 s.
Devices star() {
  Devices devices = alike_paths(3, 0.5, 2.0);
  devices.links.assign(3, std::vector<std::vector<int>>(3));
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to)
      devices.links[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = {from, 3 + to};
  devices.link_bytes_per_s.assign(6, 2.0);
  return devices;
}

/// Units 1 and 2 read the 4 bytes of unit 0; each pass takes 1 s, but the forward one of unit 2.
PlacementProblem fork(double forward_2_s) {
  const auto all = [](double seconds) { return std::vector(3, seconds); };
  return {.operators = {{.name = "0", .seconds = all(1.0)},
                        {.name = "1", .seconds = all(1.0), .inputs = {{0, 4.0}}},
                        {.name = "2", .seconds = all(forward_2_s), .inputs = {{0, 4.0}}},
                        {.name = "2, backward", .seconds = all(1.0), .inputs = {{2, 0.0}}, .with = 2},
                        {.name = "1, backward", .seconds = all(1.0), .inputs = {{1, 0.0}}, .with = 1},
                        {.name = "0, backward",
                         .seconds = all(1.0),
                         .update_s = {},
                         .inputs = {{0, 0.0}, {4, 4.0}, {3, 4.0}},
                         .with = 0}},
          .devices = star()};
}

StepPlan plan_of(const PlacementProblem& problem, const std::vector<int>& devices) {
  return {{{.name = "0"}, {.name = "1", .inputs = {0}}, {.name = "2", .inputs = {0}}}, 1, by_hand(problem, devices)};
}

}  // namespace

TEST_CASE("two messages out of one device have half of its link each, and so have two into it") {
  const PlacementProblem problem = fork(1.0);
  const StepPlan plan = plan_of(problem, {0, 1, 2});
  const SharedStep step = shared_step(plan, problem);
  const double alone_s = 0.5 + 4.0 / 2.0, shared_s = 0.5 + 4.0 / 1.0;
  CHECK(plan.placement().makespan_s == Approx(1.0 + alone_s + 1.0 + 1.0 + alone_s + 1.0).epsilon(exact));
  CHECK(step.duration_s == Approx(1.0 + shared_s + 1.0 + 1.0 + shared_s + 1.0).epsilon(exact));
  CHECK(step.messages == 4);
  CHECK(step.slowed == 4);
}

TEST_CASE("a message that comes later takes its half of the link from then on") {
  // Derivatives begin at 5.5 + 1 + 1 + 0.5 = 8 s and at 9 s. At 9 s the first has 2 B left, at 1 B/s until 11 s. The
  // second has 2 B left then, at 2 B/s until 12 s.
  const PlacementProblem problem = fork(2.0);
  CHECK(shared_step(plan_of(problem, {0, 1, 2}), problem).duration_s == Approx(12.0 + 1.0).epsilon(exact));
}

TEST_CASE("an output goes once to a device, and there is no message within one") {
  PlacementProblem problem = fork(1.0);
  problem.operators[0].update_s = {0.0, 7.0, 0.0};
  problem.operators[1].update_s = {0.0, 0.0, 0.25};
  const SharedStep both = shared_step(plan_of(problem, {0, 2, 2}), problem);
  CHECK(both.messages == 1 + 2);
  // 1 + 2.5 until the output is there, four passes; the first derivative goes while the last pass is under way, 1 s of
  // it beside the second one.
  CHECK(both.slowed == 2);
  CHECK(both.duration_s == Approx(7.5 + 0.5 + 3.0 + 1.0).epsilon(exact));
  const SharedStep one = shared_step(plan_of(problem, {2, 2, 2}), problem);
  CHECK(one.messages == 0);
  CHECK(one.duration_s == Approx(6.0 + 0.25).epsilon(exact));
}

}  // namespace shared_links_test
