// Placements of operators, against schedules that are worked out by hand.
#include "strategies/operators/placements.h"

#include <algorithm>
#include <numeric>

#include "base/errors.h"
#include "catch.h"
#include "strategies/operators/exhaustive.h"
#include "strategies/operators/twins.h"
#include "strategies/placement_problems.h"

namespace placements_test {

using namespace simgrad;
using namespace simgrad::tests;
using namespace simgrad::strategies;

TEST_CASE("upward ranks of the ten tasks of Topcuoglu, Hariri and Wu") {
  const std::vector<double> ranks = upward_ranks(ten_tasks());
  // Table 2 of the paper; the last task's is (21 + 7 + 16) / 3.
  const std::vector<double> published{108.0,     77.0,      80.0,      80.0,      69.0,
                                      190.0 / 3, 128.0 / 3, 107.0 / 3, 133.0 / 3, 44.0 / 3};
  for (std::size_t task = 0; task < published.size(); ++task)
    CHECK(ranks[task] == Approx(published[task]).epsilon(1e-12));
}

TEST_CASE("heft's schedule of the ten tasks ends at 80, as published") {
  const PlacedSchedule schedule = heft(ten_tasks());
  CHECK(schedule.makespan_s == 80.0);
  // Figure 3 of the paper, processors from 0: task 1 on the third one from 0 to 9, task 10 on the second from 73 to 80.
  CHECK(schedule.device == std::vector<int>{2, 0, 2, 1, 2, 1, 2, 0, 1, 1});
  CHECK(schedule.start_s == std::vector<double>{0, 27, 9, 18, 28, 26, 38, 57, 56, 73});
}

TEST_CASE("heft puts an operator between two that are placed already") {
  // Ranks are 79 (a), 50.5 (b) and 49.95 (c). So c comes last, and fits on device 0 before b, which waits for a from
  // device 1 until 1 + 3.
  PlacementProblem problem{.operators = {}, .devices = alike_paths(2, 3.0, 1e12)};
  problem.operators = {{.name = "a", .seconds = {50.0, 1.0}},
                       {.name = "b", .seconds = {1.0, 100.0}, .inputs = {{0, 0.0}}},
                       {.name = "c", .seconds = {0.9, 99.0}}};
  const std::vector<double> ranks = upward_ranks(problem);
  CHECK(ranks[0] == Approx(25.5 + 3.0 + 50.5).epsilon(1e-12));
  CHECK(ranks[1] > ranks[2]);
  const PlacedSchedule schedule = heft(problem);
  CHECK(schedule.device == std::vector<int>{1, 0, 0});
  CHECK(schedule.order[0] == std::vector<std::size_t>{2, 1});
  CHECK(schedule.start_s == std::vector<double>{0.0, 4.0, 0.0});
  CHECK(schedule.makespan_s == 5.0);
}

TEST_CASE("an upward rank has no message between operators that share a device") {
  PlacementProblem problem{.operators = {}, .devices = alike_paths(2, 3.0, 1.0)};
  problem.operators = {{.name = "a", .seconds = {1.0, 2.0}},
                       {.name = "b", .seconds = {1.0, 1.0}, .inputs = {{0, 4.0}}},
                       {.name = "b, backward", .seconds = {2.0, 2.0}, .inputs = {{1, 0.0}}, .with = 1},
                       {.name = "a, backward", .seconds = {2.0, 4.0}, .inputs = {{0, 0.0}, {2, 4.0}}, .with = 0}};
  // Backwards: 3; 2 + (3 + 4) + 3; 1 + that; 1.5 + (3 + 4) + that.
  CHECK(upward_ranks(problem) == std::vector<double>{21.5, 13.0, 12.0, 3.0});
}

TEST_CASE("greedy goes on with the operator whose inputs are there first") {
  // x ends at 5, y at 6, so that u, which reads x, is ready before v, which reads y.
  PlacementProblem problem{.operators = {}, .devices = alike_paths(1, 0.0, 1.0)};
  problem.operators = {{.name = "x", .seconds = {5.0}},
                       {.name = "y", .seconds = {1.0}},
                       {.name = "v", .seconds = {1.0}, .inputs = {{1, 0.0}}},
                       {.name = "u", .seconds = {1.0}, .inputs = {{0, 0.0}}}};
  CHECK(greedy(problem).order[0] == std::vector<std::size_t>{0, 1, 3, 2});
}

TEST_CASE("greedy gives each operator to the device that ends it first, messages included") {
  // a ends at 1 on device 0. b there: 1 + 3 = 4; on device 1: 1 + 0.5 + 4 / 2 + 1 = 4.5. c: on device 0 at 4 + 3, on
  // device 1 at 1 + 0.5 + 1 + 1 = 3.5.
  PlacementProblem problem{.operators = {}, .devices = alike_paths(2, 0.5, 2.0)};
  problem.operators = {{.name = "a", .seconds = {1.0, 2.0}},
                       {.name = "b", .seconds = {3.0, 1.0}, .inputs = {{0, 4.0}}},
                       {.name = "c", .seconds = {3.0, 1.0}, .inputs = {{0, 2.0}}}};
  const PlacedSchedule schedule = greedy(problem);
  CHECK(schedule.device == std::vector<int>{0, 0, 1});
  CHECK(schedule.end_s == std::vector<double>{1.0, 4.0, 3.5});
  CHECK(schedule.makespan_s == 4.0);
}

TEST_CASE("updates come behind the operators of their device") {
  PlacementProblem problem{.operators = {}, .devices = alike_paths(1, 0.0, 1.0)};
  problem.operators = {{.name = "a", .seconds = {1.0}, .update_s = {0.25}},
                       {.name = "a, backward", .seconds = {2.0}, .inputs = {{0, 0.0}}, .with = 0}};
  for (const PlacedSchedule& schedule : {greedy(problem), heft(problem), exhaustive(problem), by_hand(problem, {0})})
    CHECK(schedule.makespan_s == 3.25);
}

TEST_CASE("balanced stages have as equal flops as can be, whatever the speeds") {
  PlacementProblem problem{.operators = {}, .devices = alike_paths(3, 0.0, 1.0)};
  for (const double flops : {4.0, 1.0, 1.0, 2.0, 4.0})
    problem.operators.push_back({.name = "", .seconds = {9.0, 1.0, 1.0}, .flops = flops});
  // 4 | 1 + 1 + 2 | 4: no other cut into three has a largest part of 4.
  CHECK(balanced(problem).device == std::vector<int>{0, 1, 1, 1, 2});
}

TEST_CASE("operators with an earlier one share its device") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const PlacementProblem problem = random_problem(seed, 6, 3);
    for (const PlacedSchedule& schedule : {greedy(problem), heft(problem), balanced(problem)})
      for (std::size_t op = 0; op < problem.operators.size(); ++op)
        if (const auto with = problem.operators[op].with) CHECK(schedule.device[op] == schedule.device[*with]);
  }
}

/// The least makespan of all devices and all orders, tried one by one.
double least_makespan(const PlacementProblem& problem) {
  const std::size_t count = problem.operators.size(), half = count / 2;
  double least = 1e9;
  for (unsigned code = 0; code < 1U << half; ++code) {
    std::vector<int> device;
    for (std::size_t op = 0; op < count; ++op)
      device.push_back(static_cast<int>(code >> problem.operators[op].with.value_or(op) & 1U));
    std::vector<std::size_t> sequence(count);
    std::iota(sequence.begin(), sequence.end(), 0U);
    do {
      std::vector<std::size_t> place(count);
      for (std::size_t at = 0; at < count; ++at) place[sequence[at]] = at;
      const auto follows = [&](std::size_t op) {
        return std::ranges::all_of(problem.operators[op].inputs,
                                   [&](const auto& input) { return place[input.from] < place[op]; });
      };
      if (!std::ranges::all_of(sequence, follows)) continue;
      std::vector<std::vector<std::size_t>> order(2);
      for (const std::size_t op : sequence) order[static_cast<std::size_t>(device[op])].push_back(op);
      least = std::min(least, timed(problem, device, order).makespan_s);
    } while (std::ranges::next_permutation(sequence).found);
  }
  return least;
}

TEST_CASE("the exhaustive placement is the best of all devices and orders") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const PlacementProblem problem = random_problem(seed, 3, 2);
    CHECK(exhaustive(problem).makespan_s == Approx(least_makespan(problem)).epsilon(1e-12));
  }
}

TEST_CASE("no placement ends before the exhaustive one") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const PlacementProblem problem = random_problem(seed, 5, 3);
    const PlacedSchedule best = exhaustive(problem);
    REQUIRE(best.proven);
    for (const PlacedSchedule& other :
         {greedy(problem), heft(problem), balanced(problem), by_hand(problem, {0, 1, 2, 1, 0})})
      CHECK(best.makespan_s <= other.makespan_s);
  }
}

TEST_CASE("exhaustive finds what greedy and heft miss") {
  // Both give a to device 1, where it ends first (2 against 3), and then pay for the message of b: 2 + 10 + 1, or stay:
  // 2 + 20. With both on device 0 it ends at 3 + 1.
  PlacementProblem problem{.operators = {}, .devices = alike_paths(2, 10.0, 1.0)};
  problem.operators = {{.name = "a", .seconds = {3.0, 2.0}},
                       {.name = "b", .seconds = {1.0, 20.0}, .inputs = {{0, 0.0}}}};
  CHECK(greedy(problem).makespan_s == 13.0);
  CHECK(heft(problem).makespan_s == 13.0);
  CHECK(exhaustive(problem).makespan_s == 4.0);
}

TEST_CASE("exhaustive tells whether it has looked at everything") {
  CHECK(exhaustive(random_problem(1, 4, 3)).proven);
  CHECK_FALSE(exhaustive(random_problem(1, 16, 3)).proven);
}

TEST_CASE("no device is given more than its memory") {
  PlacementProblem problem{.operators = {}, .devices = alike_paths(2, 0.0, 1.0)};
  problem.devices.memory_bytes = {10.0, 5.0};
  for (const double bytes : {6.0, 4.0, 5.0})
    problem.operators.push_back({.name = "x", .seconds = {1.0, 100.0}, .memory_bytes = bytes, .flops = 1.0});
  for (const PlacedSchedule& schedule : {greedy(problem), heft(problem), exhaustive(problem)})
    CHECK(schedule.device == std::vector<int>{0, 0, 1});
  problem.operators.push_back({.name = "y", .seconds = {1.0, 1.0}, .memory_bytes = 1.0, .flops = 1.0});
  CHECK_THROWS_AS(greedy(problem), base::ScenarioError);
  CHECK_THROWS_AS(heft(problem), base::ScenarioError);
  CHECK_THROWS_AS(exhaustive(problem), base::ScenarioError);
  CHECK_THROWS_AS(by_hand(problem, {0, 0, 1, 1}), base::ScenarioError);
}

TEST_CASE("devices are twins that have equal speeds, memory and paths") {
  PlacementProblem problem{.operators = {{.name = "a", .seconds = {1.0, 1.0, 1.0}}},
                           .devices = alike_paths(3, 1.0, 1.0)};
  using Twins = std::vector<std::vector<std::size_t>>;
  CHECK(twins_of(problem) == Twins{{}, {0}, {0, 1}});
  const auto with = [&](const auto& change) {
    PlacementProblem changed = problem;
    change(changed);
    return twins_of(changed);
  };
  CHECK(with([](PlacementProblem& of) { of.operators[0].seconds[1] = 2.0; }) == Twins{{}, {}, {0}});
  CHECK(with([](PlacementProblem& of) { of.operators[0].update_s = {0.0, 0.0, 1.0}; }) == Twins{{}, {0}, {}});
  CHECK(with([](PlacementProblem& of) { of.devices.memory_bytes[2] = 5.0; }) == Twins{{}, {0}, {}});
  CHECK(with([](PlacementProblem& of) { of.devices.latency_s[0][2] = 2.0; }) == Twins{{}, {}, {}});
  CHECK(with([](PlacementProblem& of) { of.devices.bytes_per_s[2][0] = of.devices.bytes_per_s[2][1] = 3.0; }) ==
        Twins{{}, {0}, {}});
}

TEST_CASE("exhaustive uses devices that are alike") {
  // 3 + 3 and 2 + 2 + 2. By number or by rank the last one comes behind 5.
  PlacementProblem problem{.operators = {}, .devices = alike_paths(2, 9.0, 1.0)};
  for (const double seconds : {2.0, 2.0, 2.0, 3.0, 3.0})
    problem.operators.push_back({.name = "x", .seconds = {seconds, seconds}});
  CHECK(greedy(problem).makespan_s == 7.0);
  CHECK(heft(problem).makespan_s == 7.0);
  CHECK(exhaustive(problem).makespan_s == 6.0);
}

}  // namespace placements_test
