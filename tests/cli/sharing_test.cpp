// Work that runs share, and timing without numbers.
#include "catch.h"
#include "cli/scenario.h"

namespace sharing_test {

using namespace simgrad::tests;

namespace {

/// The number of runs that the progress lines count.
std::string works(const std::string& text, const std::string& arguments = "") {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("run x.toml " + arguments, scratch);
  REQUIRE(called.exit_code == 0);
  return lines_of(called.err).back();
}

/// A result without the fields that need numbers.
Json timing_of(Json run) {
  for (const char* member : {"id", "status", "final_loss", "time_to_target_s", "wall_s", "metric_name", "final_metric",
                             "consensus_distance"})
    run.erase(member);
  for (Json& evaluation : run["curve"])
    for (const char* member : {"loss", "metric", "consensus_distance"}) evaluation.erase(member);
  return run;
}

}  // namespace

TEST_CASE("a single worker is its own baseline, and runs once") {
  CHECK(works(with_strategies("[[strategy]]\nkind = \"single\"\n")) == "1 of 1 run done");
  CHECK(works(with_strategies("[[strategy]]\nkind = \"single\"\n"), "--grid cluster.workers=1,2,3") ==
        "1 of 1 run done");
  const Json results = results_of(with_strategies("[[strategy]]\nkind = \"single\"\n"));
  CHECK(results["runs"][0]["speedup_throughput"] == 1.0);
  CHECK(results["runs"][0]["wall_s"] == results["baselines"][0]["wall_s"]);
}

TEST_CASE("a single worker that is slowed down is not its baseline") {
  const Json results =
      results_of(with_strategies("[[strategy]]\nkind = \"single\"\n"), "--set 'cluster.relative_speeds=[0.5]'");
  CHECK(results["runs"][0]["speedup_throughput"].get<double>() == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("one baseline serves every network, every number of workers and every strategy") {
  const std::string grid =
      " --grid cluster.bandwidth=1Mbps,1Gbps --grid cluster.latency=0s,1ms --grid cluster.workers=2,4";
  // 2 x 2 x 2 points of 2 strategies, and one baseline.
  CHECK(works(small + "[[strategy]]\nkind = \"gossip\"\n", grid) == "17 of 17 runs done");
  CHECK(results_of(small, grid)["baselines"].size() == 1);
}

TEST_CASE("each training of its own has a baseline of its own") {
  CHECK(results_of(small, "--grid training.batch_size=10,20")["baselines"].size() == 2);
  CHECK(results_of(small, "--grid cluster.speed=1GF,2GF")["baselines"].size() == 2);
  CHECK(results_of(small, "--seeds 1..3")["baselines"].size() == 3);
  // Weak scaling: the global batch grows with the workers.
  CHECK(results_of(small, "--set training.batch_size_per_worker=10 --grid cluster.workers=2,4")["baselines"].size() ==
        2);
}

TEST_CASE("the baseline of weak scaling has the whole batch") {
  const Json results = results_of(small, "--set training.batch_size_per_worker=10");
  CHECK(results["baselines"][0]["samples"] == 400);
  CHECK(results["runs"][0]["samples"] == 400);
}

TEST_CASE("two labels of one strategy compute once and are both there") {
  const std::string text = small + "[[strategy]]\nkind = \"allreduce\"\nlabel = \"again\"\n";
  CHECK(works(text) == "2 of 2 runs done");
  CHECK(each(results_of(text), "label") == std::vector<Json>{"allreduce", "again"});
}

TEST_CASE("a timing-only run has the times, bytes and messages of the run with numbers, bit for bit, and no losses") {
  const std::string text = with_strategies(all_strategies);
  for (const std::string& changes :
       {std::string(),
        std::string("--set training.batch_size=30 --set model.bias=true --set training.optimizer=momentum"),
        std::string("--set data.source=blobs --set data.classes=4 --set model.kind=softmax_regression"),
        std::string("--set data.test_fraction=0.25 --set evaluate.on=test --set stop.epochs=3")}) {
    INFO(changes);
    const Json with_numbers = results_of(text, changes);
    const Json timing_only = results_of(text, changes + " --set training.numbers=false");
    for (const char* list : {"runs", "baselines"}) {
      REQUIRE(with_numbers[list].size() == timing_only[list].size());
      for (std::size_t i = 0; i < with_numbers[list].size(); ++i) {
        CHECK(timing_of(timing_only[list][i]) == timing_of(with_numbers[list][i]));
        CHECK(timing_only[list][i]["final_loss"].is_null());
        for (const Json& evaluation : timing_only[list][i]["curve"]) CHECK(evaluation["loss"].is_null());
      }
    }
  }
}

TEST_CASE("a timing-only run of a file needs no file, only its size") {
  const Json results =
      results_of(with(small, "\"house_prices\"", "\"csv\"\npath = \"nowhere.csv\""), "--set training.numbers=false");
  CHECK(results["runs"][0]["status"] == "stopped");
  CHECK(results["runs"][0]["samples"] == 2000);
  const Json generated = results_of(small, "--set training.numbers=false");
  CHECK(results["runs"][0]["simulated_s"] == generated["runs"][0]["simulated_s"]);
}

TEST_CASE("a timing-only run takes more data than any memory holds") {
  const Json results =
      results_of(with(with(small, "samples = 200", "samples = 1e12"), "features = 5", "features = 1e6"),
                 "--set training.numbers=false --set stop.steps=1 --set cluster.speed=1EF");
  // 4 flops x 1e6 features x 1e12 samples at 1e18 a second; the update's 2e6 flops are too few to be seen.
  CHECK(results["baselines"][0]["simulated_s"].get<double>() == Approx(4.0).epsilon(1e-9));
}

}  // namespace sharing_test
