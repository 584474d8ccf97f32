// Expectations against results that are made by hand.
#include "experiment/run/verdicts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "catch.h"

namespace verdicts_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

outputs::Run run(std::string label, int workers, std::uint64_t seed, double simulated_s) {
  outputs::Run made;
  made.strategy = "allreduce";
  made.label = std::move(label);
  made.parameters["cluster.workers"] = workers;
  made.seed = seed;
  made.record.simulated_s = simulated_s;
  return made;
}

/// Two labels of one kind at two grid points, two seeds each.
outputs::Results results() {
  outputs::Results all;
  for (const int workers : {2, 4})
    for (const char* label : {"ring", "tree"})
      for (const std::uint64_t seed : {1, 2})
        all.runs.push_back(
            run(label, workers, seed, (label[0] == 'r' ? 8.0 : 12.0) / workers + 0.5 * static_cast<double>(seed)));
  return all;
}

Expectation expectation(std::string metric) {
  Expectation made;
  made.metric = std::move(metric);
  return made;
}

std::vector<std::string> said(const Expectation& expectation, const outputs::Results& all) {
  std::vector<std::string> texts;
  for (const Verdict& each : verdicts({expectation}, all)) {
    const char* outcome = each.outcome == Outcome::held     ? "ok"
                          : each.outcome == Outcome::failed ? "FAILED"
                                                            : "untested";
    texts.push_back(std::string(outcome) + " " + each.name + " | " + each.text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

/// Seeds 1 and 2 differ by 0.5: s = 0.5 / sqrt(2), so the margin is t(1) s / sqrt(2) = 12.706 x 0.25.
const std::string margin = " ± 3.2 over 2 seeds";
/// The margin of a ratio: each residual is 0.25 (1 - ratio) off, once up and once down, so s = 0.5 (1 - ratio) /
/// sqrt(2).
std::string margin_of(double ratio, double below) {
  return fmt::format(" ± {:.2g} over 2 seeds", 12.7062 * 0.25 * (1.0 - ratio) / below);
}
const std::string unsure = "; other seeds may decide otherwise";

}  // namespace

TEST_CASE("an expectation is of the mean over the seeds, for every label and grid point that it matches") {
  Expectation most = expectation("simulated_s");
  // Ring: (4.5 + 5) / 2 and (2.5 + 3) / 2; tree: (6.5 + 7) / 2 and (3.5 + 4) / 2.
  most.at_most = 3.75;
  CHECK(said(most, results()) ==
        Texts{"FAILED ring: simulated_s at most 3.75, workers=2 | found 4.75" + margin + unsure,
              "FAILED tree: simulated_s at most 3.75, workers=2 | found 6.75" + margin + unsure,
              "ok ring: simulated_s at most 3.75, workers=4 | found 2.75" + margin + unsure,
              "ok tree: simulated_s at most 3.75, workers=4 | found 3.75" + margin + unsure});
  most.at_most = 3.7;  // the first seed alone would hold it
  CHECK(said(most, results()).back() ==
        "FAILED tree: simulated_s at most 3.7, workers=4 | found 3.75" + margin + unsure);
}

TEST_CASE("a strategy is matched by label, else by kind, and `where` by value") {
  Expectation least = expectation("simulated_s");
  least.at_least = 3.0;
  least.where = {{"cluster.workers", "4.0"}};  // as good as 4
  least.strategy = "tree";
  CHECK(said(least, results()) == Texts{"ok tree: simulated_s at least 3, workers=4 | found 3.75" + margin + unsure});
  least.strategy = "allreduce";
  CHECK(said(least, results()) == Texts{"FAILED ring: simulated_s at least 3, workers=4 | found 2.75" + margin + unsure,
                                        "ok tree: simulated_s at least 3, workers=4 | found 3.75" + margin + unsure});
}

TEST_CASE("a relative expectation is about the means' ratio, and no run is compared with itself") {
  Expectation most = expectation("simulated_s");
  most.relative_to = "tree";
  most.at_most = 0.72;
  // Ring over tree: 4.75 / 6.75 and 2.75 / 3.75.
  CHECK(said(most, results()) ==
        Texts{"ok ring: simulated_s at most 0.72 x that of tree, workers=2 | found 0.703704 (4.75 / 6.75)" +
                  margin_of(4.75 / 6.75, 6.75) + unsure,
              "FAILED ring: simulated_s at most 0.72 x that of tree, workers=4 | found 0.733333 (2.75 / 3.75)" +
                  margin_of(2.75 / 3.75, 3.75) + unsure});
  most.strategy = "tree";
  CHECK(said(most, results()).at(0).starts_with("FAILED tree: simulated_s at most 0.72 x that of tree | no run there"));
}

TEST_CASE("a relative expectation with relative_where compares a strategy with itself at another grid point") {
  Expectation half = expectation("simulated_s");
  half.strategy = "ring";
  half.where = {{"cluster.workers", "4"}};
  half.relative_where = {{"cluster.workers", "2"}};
  half.at_least = 0.6;
  CHECK(said(half, results()) == Texts{"FAILED ring: simulated_s at least 0.6 x that of cluster.workers=2, workers=4 | "
                                       "found 0.578947 (2.75 / 4.75)" +
                                       margin_of(2.75 / 4.75, 4.75) + unsure});
  half.relative_where = {{"cluster.workers", "8"}};
  CHECK(said(half, results()) == Texts{"untested ring: simulated_s at least 0.6 x that of cluster.workers=8, workers=4 "
                                       "| there are no runs to compare with, ring at workers=8"});
}

TEST_CASE("a run that failed meets no expectation, though its numbers are zeros") {
  Expectation most = expectation("simulated_s");
  most.at_most = 1.0;
  outputs::Results all;
  all.runs = {run("ring", 2, 1, 0.0)};
  all.runs[0].record.status = record::Status::failed;
  all.runs[0].record.error = "out of memory";
  CHECK(said(most, all) ==
        Texts{"FAILED ring: simulated_s at most 1, workers=2 | the run failed: out of memory (seed 1)"});
}

TEST_CASE("a null is a failure that says why, and for which seed") {
  Expectation target = expectation("time_to_target_s");
  target.at_most = 1.0;
  outputs::Results all;
  all.runs = {run("ring", 2, 1, 1.0), run("ring", 2, 2, 1.0)};
  all.runs[0].record.time_to_target_s = 0.5;
  const std::string name = "FAILED ring: time_to_target_s at most 1, workers=2 | ";
  CHECK(said(target, all) == Texts{name + "found null: the target was not reached (seed 2)"});
  all.runs[1].record.status = record::Status::failed;
  all.runs[1].record.error = "rank 3 was lost";
  CHECK(said(target, all) == Texts{name + "the run failed: rank 3 was lost (seed 2)"});
  Expectation loss = expectation("final_loss");
  loss.at_most = 1.0;
  all.runs.pop_back();
  all.runs[0].record.status = record::Status::diverged;
  CHECK(said(loss, all) == Texts{"FAILED ring: final_loss at most 1, workers=2 | the run diverged at step 0 (seed 1)"});
  all.runs[0].record.status = record::Status::stopped;
  CHECK(said(loss, all) ==
        Texts{"FAILED ring: final_loss at most 1, workers=2 | found null: the run has no such number (seed 1)"});
}

TEST_CASE("a run that diverged meets no expectation, and its step is told") {
  Expectation fast = expectation("simulated_s");
  fast.at_most = 10.0;
  outputs::Results all;
  all.runs = {run("ring", 2, 1, 1.0), run("ring", 2, 2, 1.0)};
  all.runs[1].record.status = record::Status::diverged;
  all.runs[1].record.curve.resize(2);
  all.runs[1].record.curve[1].step = 40;
  CHECK(said(fast, all) ==
        Texts{"FAILED ring: simulated_s at most 10, workers=2 | the run diverged at step 40 (seed 2)"});
  Expectation target = expectation("time_to_target_s");
  target.at_most = 10.0;
  all.runs[0].record.time_to_target_s = 0.5;
  CHECK(said(target, all) ==
        Texts{"FAILED ring: time_to_target_s at most 10, workers=2 | the run diverged at step 40 (seed 2)"});
}

TEST_CASE("an expectation over seeds has the interval of its mean, and says where chance may reverse it") {
  Expectation most = expectation("simulated_s");
  outputs::Results all;
  for (const double s : {3.9, 4.0, 4.1}) all.runs.push_back(run("ring", 2, all.runs.size() + 1, s));
  // t(2) 0.1 / sqrt(3) = 0.248
  most.at_most = 4.2;
  CHECK(said(most, all) ==
        Texts{"ok ring: simulated_s at most 4.2, workers=2 | found 4 ± 0.25 over 3 seeds; other seeds may decide "
              "otherwise"});
  most.at_most = 4.3;
  CHECK(said(most, all) == Texts{"ok ring: simulated_s at most 4.3, workers=2 | found 4 ± 0.25 over 3 seeds"});
}

TEST_CASE("equal means within the tolerance, of rounding if none is given") {
  Expectation equals = expectation("simulated_s");
  equals.equals = 4.0;
  CHECK(equals.holds(4.0));
  CHECK(equals.holds(4.0 * (1.0 + 0.9e-9)));
  CHECK_FALSE(equals.holds(4.0 * (1.0 + 1.1e-9)));
  CHECK(equals.bound() == "4");
  equals.tolerance = 0.25;
  CHECK(equals.holds(3.0));
  CHECK(equals.holds(5.0));
  CHECK_FALSE(equals.holds(5.0001));
  CHECK(equals.bound() == "4 within 25 %");
  equals.equals = -4.0;
  CHECK(equals.holds(-5.0));
}

TEST_CASE("a bound that is missed by a rounding is shown with all its digits") {
  outputs::Results all;
  all.runs = {run("ring", 2, 1, 2.9999999)};
  Expectation least = expectation("simulated_s");
  least.at_least = 3.0;
  least.at_most = 4.0;
  CHECK(said(least, all) == Texts{"FAILED ring: simulated_s between 3 and 4, workers=2 | found 2.9999999"});
}

TEST_CASE("an expectation without its grid points is untested, one without runs otherwise has failed") {
  Expectation steps = expectation("steps");
  steps.at_least = 0.0;
  steps.where = {{"cluster.workers", "16"}};
  CHECK(said(steps, results()) ==
        Texts{"untested steps at least 0, workers=16 | the command line leaves no such grid point"});
  steps.where = {{"cluster.workers", "2"}};
  steps.strategy = "gossip";
  CHECK(said(steps, results()) == Texts{"FAILED gossip: steps at least 0, workers=2 | no run there has that strategy"});
}

TEST_CASE("a ratio by one seed is said to be one, and a tolerance stands behind the other side's name") {
  Expectation most = expectation("simulated_s");
  most.relative_to = "tree";
  most.equals = 0.7;
  most.tolerance = 0.1;
  outputs::Results all;
  all.runs = {run("ring", 2, 1, 3.0), run("tree", 2, 1, 4.0)};
  CHECK(said(most, all).at(0) ==
        "ok ring: simulated_s 0.7 x that of tree, within 10 %, workers=2 | found 0.75 (3 / 4); one seed cannot "
        "show whether this is chance");
}

TEST_CASE("an expected speed-up over seeds is of the mean times") {
  Expectation least = expectation("speedup_time_to_target");
  least.at_least = 1.0;
  outputs::Results all;
  all.runs = {run("ring", 2, 1, 4.0), run("ring", 2, 2, 12.0)};
  for (outputs::Run& each : all.runs) {
    each.record.time_to_target_s = each.record.simulated_s;
    each.speedup_time_to_target = 8.0 / each.record.simulated_s;  // the mean of the ratios is 1.33
  }
  CHECK(said(least, all).at(0).starts_with("ok ring: speedup_time_to_target at least 1, workers=2 | found 1 ± "));
}

}  // namespace verdicts_test
