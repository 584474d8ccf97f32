// A scenario expanded into its runs.
#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"

namespace plan_test {

using namespace simgrad;
using namespace simgrad::experiment;
using nlohmann::ordered_json;

TEST_CASE("a plan is every grid point x every strategy x every seed, in that order") {
  const Plan plan =
      planned(small + ring_allreduce + single + "[grid]\n\"cluster.workers\" = [1, 2]\n", {.seeds = "7..8"});
  std::string order;
  for (const RunPlan& run : plan.runs)
    order += run.parameters["cluster.workers"].dump() + run.label.substr(0, 1) + std::to_string(run.seed) + " ";
  CHECK(order == "1a7 1a8 1s7 1s8 2a7 2a8 2s7 2s8 ");
  CHECK(plan.name == "x");
}

TEST_CASE("a plan without a grid has one point, without parameters") {
  const Plan plan = planned(small + ring_allreduce);
  REQUIRE(plan.runs.size() == 1);
  CHECK(plan.runs[0].parameters == ordered_json::object());
  CHECK_FALSE(plan.scenario.contains("grid"));
}

TEST_CASE("ids are different for whatever changes a result, and 16 hexadecimal digits") {
  std::vector<std::string> ids;
  const auto add = [&](const std::string& set) {
    Selection selection;
    if (!set.empty()) selection.sets = {set};
    ids.push_back(planned(small + ring_allreduce, selection).runs[0].id);
  };
  for (const char* set :
       {"", "cluster.workers=3", "cluster.latency=1ms", "cluster.network_model=tcp", "cluster.network_model=ethernet",
        "data.noise=0.2", "data.samples=99", "model.bias=true", "training.batch_size=10", "stop.steps=3", "seed=2",
        "evaluate.every_steps=2", "cluster.relative_speeds=[0.5]"})
    add(set);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    CHECK(ids[i].size() == 16);
    CHECK(ids[i].find_first_not_of("0123456789abcdef") == std::string::npos);
    for (std::size_t j = 0; j < i; ++j) CHECK(ids[i] != ids[j]);
  }
}

TEST_CASE("the frames and the window of ethernet are in the id unless they are the default ones") {
  const auto id = [](std::vector<std::string> sets) {
    sets.emplace_back("cluster.network_model=ethernet");
    return planned(small + ring_allreduce, {.sets = std::move(sets)}).runs[0].id;
  };
  const std::string plain = id({});
  CHECK(id({"cluster.frame=standard", "cluster.window=4MiB"}) == plain);
  CHECK(id({"cluster.frame=jumbo"}) != plain);
  CHECK(id({"cluster.window=1MiB"}) != plain);
  CHECK(id({"cluster.initial_window=10"}) == plain);
  CHECK(id({"cluster.initial_window=0"}) != plain);
  CHECK(id({"cluster.idle_time=1s"}) != plain);
  CHECK(id({"cluster.window=1MiB"}) != id({"cluster.frame=jumbo"}));
}

TEST_CASE("writing a default down changes no id") {
  const std::string plain = planned(small + ring_allreduce).runs[0].id;
  for (const char* set : {"cluster.topology=star", "data.source=house_prices", "evaluate.every_steps=1", "title=x",
                          "schema=1", "training.batch_size=full", "strategy.0.micro_batches=1"})
    CHECK(planned(small + ring_allreduce, {.sets = {set}}).runs[0].id == plain);
}

TEST_CASE("the id of a run on a file depends on the file's contents") {
  const auto id = [](const std::string& rows) {
    const tests::Scratch scratch;
    scratch.write("d.csv", rows);
    const std::string text =
        "[cluster]\nworkers = 1\n[data]\nsource = \"csv\"\npath = \"d.csv\"\n"
        "[model]\nkind = \"least_squares\"\n[stop]\nsteps = 1\n" +
        ring_allreduce;
    return make_plan(scratch.write("x.toml", text), {}).runs[0].id;
  };
  CHECK(id("a,b\n1,2\n") == id("a,b\n1,2\n"));
  CHECK(id("a,b\n1,2\n") != id("a,b\n1,3\n"));
}

TEST_CASE("a baseline is one worker at nominal speed, without network, failures or slow ranks") {
  const Plan plan = planned(
      small + ring_allreduce,
      {.sets = {"cluster.speed=3GF", "cluster.relative_speeds=[0.5]",
                "cluster.failures.crash=[{rank=1,at=\"1s\",repair=\"1s\"}]", "cluster.charge_reductions=false"}});
  REQUIRE(plan.baselines.size() == 1);
  const RunPlan& baseline = plan.baselines[0];
  const cluster::Options& cluster = baseline.settings->cluster;
  CHECK(baseline.workers == 1);
  CHECK(baseline.kind == "single");
  CHECK(cluster.workers == 1);
  CHECK(cluster.host_spec.speed_flops_per_s == 3e9);
  CHECK(cluster.relative_speeds.empty());
  CHECK(cluster.failures.crashes.empty());
  CHECK_FALSE(cluster.charge_reductions);
  CHECK(plan.runs[0].baseline == baseline.id);
}

TEST_CASE("baselines have the parameters that tell them apart") {
  const Plan plan = planned(small + ring_allreduce +
                            "[grid]\n\"data.features\" = [3, 4]\n\"cluster.latency\" = [\"1us\", \"2us\"]\n");
  REQUIRE(plan.baselines.size() == 2);
  for (int k = 0; k < 2; ++k) {
    CHECK(plan.baselines[k].parameters.size() == 1);
    CHECK(plan.baselines[k].parameters["data.features"] == 3 + k);
  }
}

TEST_CASE("a single worker shares the baseline's work, unless something happens to it") {
  const Plan plan = planned(small + single);
  CHECK(plan.runs[0].work == plan.baselines[0].work);
  const Plan slowed = planned(small + single, {.sets = {"cluster.relative_speeds=[0.5]"}});
  CHECK(slowed.runs[0].work != slowed.baselines[0].work);
}

TEST_CASE("without baselines there are none, and no run has one") {
  const Plan plan = planned(small + ring_allreduce, {.baselines = false});
  CHECK(plan.baselines.empty());
  CHECK(plan.runs[0].baseline.empty());
}

TEST_CASE("all faults of all grid points are raised together") {
  try {
    planned(small + ring_allreduce + "[grid]\n\"cluster.workers\" = [0, 4]\n\"training.batch_size\" = [10, 101]\n");
    FAIL("nothing was refused");
  } catch (const base::ScenarioError& error) {
    REQUIRE(error.faults().size() == 2);
    CHECK(error.faults()[0].find("workers must be") != std::string::npos);
    CHECK(error.faults()[1].find("a batch of 101 samples") != std::string::npos);
  }
}

TEST_CASE("runs on the same data have the same key, whatever else they do") {
  const Plan plan =
      planned(small + ring_allreduce + single + "[grid]\n\"cluster.workers\" = [1, 2]\n", {.seeds = "1,2"});
  for (const RunPlan& run : plan.runs) CHECK(run.data_key() == plan.runs[run.seed == 1 ? 0 : 1].data_key());
  CHECK(plan.runs[0].data_key() != plan.runs[1].data_key());
}

}  // namespace plan_test
