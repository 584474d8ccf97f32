// Expectations that hold and could not have failed.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "experiment/run/verdicts.h"
#include "experiment/scenario.h"

namespace vacuity_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

Expectation at_most(const std::string& metric, double bound) {
  Expectation made;
  made.metric = metric;
  made.at_most = bound;
  return made;
}

Expectation at_least(const std::string& metric, double bound) {
  Expectation made;
  made.metric = metric;
  made.at_least = bound;
  return made;
}

outputs::Run run_of(std::uint64_t seed) {
  outputs::Run run;
  run.strategy = run.label = "allreduce";
  run.seed = seed;
  run.workers = 4;
  run.record.steps = 100;
  run.record.simulated_s = 10.0;
  return run;
}

/// The reason why the expectation is vacuous; "" if it holds and says something; "failed".
std::string reason(const Expectation& expectation, const std::vector<outputs::Run>& runs,
                   const std::vector<RunPlan>& planned = {}) {
  outputs::Results results;
  results.runs = runs;
  const Verdict found = verdicts({expectation}, results, planned).at(0);
  if (found.outcome == Outcome::failed) return "failed";
  if (found.outcome == Outcome::held) return "";
  REQUIRE(found.outcome == Outcome::vacuous);
  const std::string before = "; it could not have failed: ";
  return found.text.substr(found.text.find(before) + before.size());
}

/// The scenario with stragglers, planned, and its runs of 100 steps in 10 s.
std::string with_stragglers(const std::string& stragglers, const std::string& strategy = ring_allreduce) {
  std::string text = small;
  text.insert(text.find("[data]"), "stragglers = " + stragglers + "\n");
  const Plan plan = planned(text + strategy);
  std::vector<outputs::Run> runs;
  for (const RunPlan& each : plan.runs) {
    runs.push_back(run_of(each.seed));
    runs.back().id = each.id;
  }
  return reason(at_most("steps", 100), runs, plan.runs);
}

}  // namespace

TEST_CASE("a bound that every number meets is vacuous, unless a number may be missing") {
  CHECK(reason(at_least("steps", 0), {run_of(1)}) == "no value of steps is below 0");
  CHECK(reason(at_least("steps", 1), {run_of(1)}).empty());
  CHECK(reason(at_most("steps", INFINITY), {run_of(1)}) == "no value of steps is above the bound");
  outputs::Run run = run_of(1);
  run.record.goodput = 0.9;
  CHECK(reason(at_most("goodput", 1.0), {run}) == "no value of goodput is above the bound");
  CHECK(reason(at_most("goodput", 0.95), {run}).empty());
  // "At least 0" claims here that the target is reached, and that the loss is a number.
  run.record.time_to_target_s = 1.0;
  run.record.final_loss = 0.5;
  CHECK(reason(at_least("time_to_target_s", 0), {run}).empty());
  CHECK(reason(at_least("final_loss", 0), {run}).empty());
}

TEST_CASE("an expectation under failures is vacuous if no host failed in any of its runs") {
  std::vector<outputs::Run> runs{run_of(1), run_of(2)};
  CHECK(reason(at_most("steps", 100), runs).empty());  // no host can fail
  for (outputs::Run& run : runs) run.record.crashes = 0;
  CHECK(reason(at_most("steps", 100), runs) == "the scenario lets hosts fail, and no host failed in any of the runs");
  runs[1].record.crashes = 1;
  CHECK(reason(at_most("steps", 100), runs).empty());
  runs[1].record.crashes = 0;
  CHECK(reason(at_most("steps", 99), runs) == "failed");  // it could fail, and did
}

TEST_CASE("a bound on staleness is vacuous if nothing was stale, and so is what an asynchronous run then claims") {
  outputs::Run run = run_of(1);
  run.record.staleness_max = 0.0;
  run.record.staleness_mean = 0.0;
  CHECK(reason(at_most("staleness_max", 5), {run}) == "no gradient was stale");
  CHECK(reason(at_most("staleness_max", 0), {run}).empty());  // it claims just that
  CHECK(reason(at_most("steps", 100), {run}) == "the strategy is asynchronous, and no gradient was stale in the run");
  run.workers = 1;
  CHECK(reason(at_most("steps", 100), {run}).empty());
  run.workers = 4;
  run.record.staleness_max = 3.0;
  CHECK(reason(at_most("staleness_max", 5), {run}).empty());
  CHECK(reason(at_most("steps", 100), {run}).empty());
}

TEST_CASE("an expectation under stragglers is vacuous if nothing was slowed down") {
  const std::string none = "the scenario has stragglers, and nothing was slowed down in the run";
  CHECK(with_stragglers("\"none\"").empty());
  CHECK(with_stragglers("{ kind = \"bimodal\", probability = 0.0 }") == none);
  CHECK(with_stragglers("{ kind = \"bimodal\", probability = 0.5 }").empty());
  CHECK(with_stragglers("{ kind = \"constant\", slowdown = 1.0 }") == none);
  CHECK(with_stragglers("{ kind = \"constant\", slowdown = 2.0, ranks = [1] }").empty());
  CHECK(with_stragglers("{ kind = \"log_normal\", sigma = 0.1 }").empty());
  // The run takes 10 s.
  CHECK(with_stragglers("{ kind = \"periodic\", period = \"100s\", offset = \"20s\" }") == none);
  CHECK(with_stragglers("{ kind = \"periodic\", period = \"100s\", offset = \"5s\" }").empty());
  CHECK(with_stragglers("{ kind = \"markov\", nominal = \"1e9s\", slow = \"1s\" }") == none);
}

TEST_CASE("under lockstep a gradient that the run has not computed slows nothing down") {
  // 4 ranks compute 100 gradients each in all of 200 seeds. None of them pauses under a seed with (1 - 1e-3)^400 =
  // 0.67; with eight draws for each, that were not made, it were (1 - 1e-3)^3328 = 0.036.
  int none = 0;
  for (int seed = 1; seed <= 200; ++seed) {
    std::string text = small;
    text.insert(text.find("[data]"), "stragglers = { kind = \"bimodal\", probability = 0.001 }\n");
    const Plan plan = planned(text + ring_allreduce, {.sets = {"seed=" + std::to_string(seed)}});
    outputs::Run run = run_of(plan.runs.front().seed);
    run.id = plan.runs.front().id;
    if (!reason(at_most("steps", 100), {run}, plan.runs).empty()) ++none;
  }
  CHECK(none > 100);
}

TEST_CASE("a comparison is vacuous only if nothing happened on either side that asks for it") {
  std::vector<outputs::Run> runs{run_of(1), run_of(1)};
  runs[1].label = "tree";
  Expectation most = at_most("steps", 1.0);
  most.strategy = "allreduce";
  runs[1].strategy = "tree";
  most.relative_to = "tree";
  runs[0].record.crashes = 0;
  CHECK(reason(most, runs) == "the scenario lets hosts fail, and no host failed in any of the runs");
  runs[1].record.crashes = 2;
  CHECK(reason(most, runs).empty());
}

}  // namespace vacuity_test
