// A plan that is run, and its speed-ups.
#include "experiment/run/runner.h"

#include <filesystem>

#include "base/errors.h"
#include "catch.h"
#include "experiment/run/finished_runs.h"
#include "experiment/run/simulate.h"
#include "experiment/scenario.h"
#include "run_files.h"

namespace runner_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

outputs::Run run(const std::string& id, double simulated_s, std::int64_t samples, std::optional<double> target_s) {
  outputs::Run made;
  made.id = id;
  made.workers = 4;
  made.record.simulated_s = simulated_s;
  made.record.samples = samples;
  made.record.time_to_target_s = target_s;
  return made;
}

/// A run that is compared with its baseline.
struct Compared {
  outputs::Run parallel;

  Compared(const outputs::Run& baseline, outputs::Run run) : parallel(std::move(run)) {
    compare_with_baseline(parallel, baseline.record);
  }
};

}  // namespace

TEST_CASE("speed-ups are ratios to the baseline: of samples a second, of time to target, and by the workers") {
  const Compared compared(run("b", 10.0, 1000, 8.0), run("r", 5.0, 1500, 4.0));
  // (1500 / 5) / (1000 / 10), 8 / 4, 3 / 4
  CHECK(compared.parallel.speedup_throughput == 3.0);
  CHECK(compared.parallel.speedup_time_to_target == 2.0);
  CHECK(compared.parallel.efficiency == 0.75);
}

TEST_CASE("a target that one of the two misses gives no speed-up by it") {
  CHECK_FALSE(Compared(run("b", 10.0, 1000, {}), run("r", 5.0, 1500, 4.0)).parallel.speedup_time_to_target);
  CHECK_FALSE(Compared(run("b", 10.0, 1000, 8.0), run("r", 5.0, 1500, {})).parallel.speedup_time_to_target);
}

TEST_CASE("runs that took no time, or failed, have no speed-up") {
  CHECK_FALSE(Compared(run("b", 0.0, 0, 0.0), run("r", 5.0, 1500, 4.0)).parallel.speedup_throughput);
  CHECK_FALSE(Compared(run("b", 10.0, 1000, 0.0), run("r", 0.0, 0, 0.0)).parallel.speedup_time_to_target);
  outputs::Run failed = run("r", 5.0, 1500, 4.0);
  failed.record.status = record::Status::failed;
  const Compared compared(run("b", 10.0, 1000, 8.0), failed);
  CHECK_FALSE(compared.parallel.speedup_throughput);
  CHECK_FALSE(compared.parallel.speedup_time_to_target);
  CHECK_FALSE(compared.parallel.efficiency);
}

TEST_CASE("a run is final when its baseline is finished, too, and is compared then") {
  const Plan plan = planned(small + ring_allreduce);
  REQUIRE(plan.runs.size() == 1);
  REQUIRE(plan.baselines.size() == 1);
  FinishedRuns finished(plan);
  CHECK(finished.add(plan.runs[0].work, run("r", 5.0, 1500, 4.0)).empty());
  CHECK_FALSE(finished.run(plan.runs[0]).speedup_throughput);
  const auto final = finished.add(plan.baselines[0].work, run("b", 10.0, 1000, 8.0));
  REQUIRE(final == std::vector<const RunPlan*>{&plan.runs[0]});
  CHECK(finished.run(plan.runs[0]).speedup_throughput == 3.0);  // (1500 / 5) / (1000 / 10)
  CHECK(finished.run(plan.runs[0]).id == plan.runs[0].id);
}

TEST_CASE("a plan that is run gives its runs in their order, tells its progress, and writes its files") {
  const tests::Scratch scratch;
  const Plan plan = planned(small + ring_allreduce + single + "[grid]\n\"cluster.workers\" = [2, 1]\n");
  std::vector<double> shares;
  int all = 0;
  const auto results =
      run_plan(plan, {.out = scratch.path() + "/out", .jobs = 2, .threads = 0, .progress = [&](const Advance& advance) {
                        all = advance.all;
                        shares.push_back(advance.share);
                      }});
  REQUIRE(results.runs.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(results.runs[i].id == plan.runs[i].id);
  CHECK(results.complete);
  // The single workers are the baseline: three pieces of work.
  CHECK(all == 3);
  CHECK(std::is_sorted(shares.begin(), shares.end()));
  CHECK(shares.back() == 1.0);
  CHECK(std::filesystem::exists(scratch.path() + "/out/results.json"));
  for (const auto& each : results.runs)
    CHECK(std::filesystem::exists(tests::file_of_run(scratch.path() + "/out/runs", each.id, ".json")));
}

TEST_CASE("a record survives its file: a run read back is the run") {
  const tests::Scratch scratch;
  const auto results =
      run_plan(planned(small + ring_allreduce), {.out = scratch.path(), .jobs = 1, .threads = 0, .progress = {}});
  const auto text = outputs::read_file(tests::file_of_run(scratch.path() + "/runs", results.runs[0].id, ".json"));
  CHECK(outputs::to_json(outputs::run_from_json(outputs::parse_json(text))) == outputs::to_json(results.runs[0]));
}

TEST_CASE("data that do not suit are refused before anything is simulated or written") {
  const tests::Scratch scratch;
  scratch.write("d.csv", "a,b\n1,2\n3,4\n");
  const std::string text =
      "[cluster]\nworkers = 3\n[data]\nsource = \"csv\"\npath = \"d.csv\"\n"
      "[model]\nkind = \"least_squares\"\n[stop]\nsteps = 1\n" +
      ring_allreduce;
  const Plan plan = make_plan(scratch.write("x.toml", text), {});
  CHECK_THROWS_WITH(run_plan(plan, {.out = scratch.path() + "/out", .jobs = 1, .threads = 0, .progress = {}}),
                    scratch.path() + "/x.toml:2:1: 3 workers for 2 training rows; expected at most one worker a row");
  CHECK_FALSE(std::filesystem::exists(scratch.path() + "/out"));
}

TEST_CASE("data that change between the runs of several seeds fail the runs that would read them") {
  const tests::Scratch scratch;
  scratch.write("d.csv", "a,b\n1,2\n3,4\n5,6\n7,9\n");
  const std::string text =
      "[cluster]\nworkers = 1\n[data]\nsource = \"csv\"\npath = \"d.csv\"\n"
      "[model]\nkind = \"least_squares\"\n[stop]\nsteps = 1\n" +
      ring_allreduce;
  const Plan plan = make_plan(scratch.write("x.toml", text), {.seeds = "1..3", .baselines = false});
  CHECK(load_data(plan.runs[1]) != nullptr);
  scratch.write("d.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n");
  CHECK_THROWS_WITH(load_data(plan.runs[1]), scratch.path() +
                                                 "/d.csv: the data have changed since the scenario was read; start "
                                                 "again, so that all runs have the same");
  // Changed after the first run has begun, the others fail and say so.
  scratch.write("d.csv", "a,b\n1,2\n3,4\n5,6\n7,9\n");
  const auto change = [&](const Advance&) { scratch.write("d.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n"); };
  const auto results = run_plan(plan, {.out = scratch.path() + "/out", .jobs = 1, .threads = 0, .progress = change});
  CHECK(results.runs[0].record.error == "");
  for (const std::size_t late : {1, 2})
    CHECK(results.runs[late].record.error.find("have changed") != std::string::npos);
}

}  // namespace runner_test
