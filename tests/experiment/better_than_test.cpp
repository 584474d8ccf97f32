// better_than: pairs of seeds, confidence, and runs that missed the target.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "experiment/plan/directions.h"
#include "experiment/run/verdicts.h"

namespace better_than_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// One run for each time, under seeds 1, 2, ...; a time of 0 is a target that was not reached.
void add_runs(outputs::Results& results, const std::string& label, const std::vector<double>& times, int workers = 2) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    outputs::Run& run = results.runs.emplace_back();
    run.strategy = "allreduce";
    run.label = label;
    run.parameters["cluster.workers"] = workers;
    run.seed = i + 1;
    run.record.simulated_s = times[i];
    if (times[i] > 0.0) run.record.time_to_target_s = times[i];
    run.speedup_throughput = 1.0 / times[i];
  }
}

outputs::Results two(const std::vector<double>& ring, const std::vector<double>& tree) {
  outputs::Results results;
  add_runs(results, "ring", ring);
  add_runs(results, "tree", tree);
  return results;
}

Expectation better(const std::string& metric, const std::string& strategy = "ring", const std::string& than = "tree") {
  Expectation made;
  made.metric = metric;
  made.strategy = strategy;
  made.better_than = than;
  return made;
}

Verdict only(const Expectation& expectation, const outputs::Results& results) {
  const std::vector<Verdict> all = verdicts({expectation}, results);
  REQUIRE(all.size() == 1);
  return all.front();
}

bool held(const Verdict& verdict) { return verdict.outcome == Outcome::held; }

}  // namespace

TEST_CASE("better_than holds if the mean paired difference is above 0 by one-sided Student's t") {
  // Differences 1, 2, 3: mean 2, s = 1; one-sided 95 % with two degrees of freedom: t = c sqrt(2 / (1 - c^2)), c = 0.9.
  const double low = 2.0 - 0.9 * std::sqrt(2.0 / (1.0 - 0.81)) / std::sqrt(3.0);
  const outputs::Results results = two({5, 6, 7}, {6, 8, 10});
  const Verdict found = only(better("simulated_s"), results);
  CHECK(found.name == "ring: simulated_s better than tree, workers=2");
  CHECK(found.text ==
        fmt::format("found 6, tree 8: better by 2 in the mean over 3 seeds, by at least {:.4g} at 95 %", low));
  CHECK(held(found));
  // At 99 % t is 6.965, so that the bound is 2 - 4.02.
  Expectation sure = better("simulated_s");
  sure.confidence = 0.99;
  CHECK(only(sure, results).text ==
        "found 6, tree 8: better by 2 in the mean over 3 seeds, which may be chance: at 99 % it may be worse by 2.021");
  CHECK_FALSE(held(only(sure, results)));
  CHECK(only(better("simulated_s", "tree", "ring"), results).text ==
        "found 8, ring 6: worse by 2 in the mean over 3 seeds");
}

TEST_CASE("more of a speed-up is better, less of a time") {
  CHECK(held(only(better("speedup_throughput"), two({1, 1}, {2, 2}))));
  CHECK_FALSE(held(only(better("speedup_throughput"), two({2, 2}, {1, 1}))));
  CHECK(held(only(better("simulated_s"), two({1, 1}, {2, 2}))));
  CHECK(experiment::better("final_metric") == Better::more);
  CHECK(experiment::better("cost_usd") == Better::less);
  CHECK_FALSE(experiment::better("steps"));
}

TEST_CASE("equal runs are not better, and one seed proves nothing") {
  CHECK(only(better("simulated_s"), two({1, 2}, {1, 2})).text == "found 1.5, tree 1.5: equal in the mean over 2 seeds");
  CHECK_FALSE(held(only(better("simulated_s"), two({1, 2}, {1, 2}))));
  const Verdict one = only(better("simulated_s"), two({1}, {2}));
  CHECK(one.outcome == Outcome::failed);
  CHECK(one.text == "one seed in common with tree cannot show which is better; use several, for example --seeds 1..5");
}

TEST_CASE("only seeds in common count") {
  const Verdict found = only(better("simulated_s"), two({1, 1, 100}, {2, 2}));
  CHECK(held(found));
  CHECK(found.text.starts_with("found 1, tree 2: better by 1 in the mean over 2 seeds"));
}

TEST_CASE("a run that missed the target is worse than one that reached it, by the sign test") {
  // Five wins of five: chance 1/32. Four of four: 1/16, more than 5 %.
  const Verdict five = only(better("time_to_target_s"), two({1, 1, 1, 1, 1}, {0, 2, 0, 2, 2}));
  CHECK(held(five));
  CHECK(five.text ==
        "tree missed the target in 2 of 5 seeds: better in 5 of 5 seeds, which chance alone does with "
        "probability 0.0312");
  const Verdict four = only(better("time_to_target_s"), two({1, 1, 1, 1}, {0, 2, 2, 2}));
  CHECK_FALSE(held(four));
  CHECK(four.text.ends_with("probability 0.0625, and 95 % was to be shown; more seeds may show it"));
  const Verdict worse = only(better("time_to_target_s"), two({0, 1}, {2, 2}));
  CHECK_FALSE(held(worse));
  CHECK(worse.text == "ring missed the target in 1 of 2 seeds: better in 1 of 2 seeds");
  CHECK(only(better("time_to_target_s"), two({0, 0}, {0, 0})).text ==
        "found null for ring and for tree: the target was not reached");
}

TEST_CASE("a run that failed is no loser: the claim is not confirmed") {
  outputs::Results results = two({1, 1}, {2, 2});
  results.runs.back().record.status = record::Status::failed;
  results.runs.back().record.error = "out of memory";
  CHECK(only(better("simulated_s"), results).text == "tree: the run failed: out of memory (seed 2)");
  CHECK_FALSE(held(only(better("simulated_s"), results)));
}

TEST_CASE("the time of a run that diverged is no number to compare") {
  outputs::Results results = two({1, 1}, {2, 2});
  for (outputs::Run& run : results.runs)
    if (run.label == "ring") run.record.status = record::Status::diverged;
  const Verdict found = only(better("simulated_s"), results);
  CHECK_FALSE(held(found));
  CHECK(found.text == "ring has no such number in 2 of 2 seeds: better in 0 of 2 seeds");
}

TEST_CASE("better_than is tested at every grid point that `where` allows, each by itself") {
  outputs::Results results = two({1, 1}, {2, 2});
  add_runs(results, "ring", {3, 3}, 4);
  add_runs(results, "tree", {2, 2}, 4);
  Expectation expectation = better("simulated_s");
  const std::vector<Verdict> both = verdicts({expectation}, results);
  REQUIRE(both.size() == 2);
  CHECK(held(both[0]));
  CHECK_FALSE(held(both[1]));
  expectation.where = {{"cluster.workers", "2"}};
  CHECK(held(only(expectation, results)));
}

}  // namespace better_than_test
