// Grids with zips and formulas, scenarios that extend others, and ids that no short cut of the planning may change.
#include <map>

#include "base/errors.h"
#include "catch.h"
#include "experiment/plan/identity.h"
#include "experiment/plan/read_settings.h"
#include "experiment/plan/size.h"
#include "experiment/scenario.h"
#include "scenario/document.h"

namespace points_test {

using namespace simgrad;
using namespace simgrad::experiment;
using nlohmann::ordered_json;

namespace {

const std::string network = R"([[grid.zip]]
"cluster.bandwidth" = ["1Gbps", "10Gbps"]
"cluster.latency" = ["50us", "5us"]
)";

/// The parameters of all runs, one line each.
std::string points_of(const Plan& plan) {
  std::string all;
  for (const RunPlan& run : plan.runs) all += run.parameters.dump() + "\n";
  return all;
}

std::string refusal(const std::string& text, const Selection& selection = {}) {
  try {
    planned(text, selection);
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("the lists of a zip vary together, behind the axes of the grid") {
  const std::string text = small + ring_allreduce + network + "[grid]\n\"cluster.workers\" = \"range(2,4,2)\"\n";
  CHECK(points_of(planned(text)) ==
        R"({"cluster.workers":2,"cluster.bandwidth":"1Gbps","cluster.latency":"50us"}
{"cluster.workers":2,"cluster.bandwidth":"10Gbps","cluster.latency":"5us"}
{"cluster.workers":4,"cluster.bandwidth":"1Gbps","cluster.latency":"50us"}
{"cluster.workers":4,"cluster.bandwidth":"10Gbps","cluster.latency":"5us"}
)");
}

TEST_CASE("an echo with zips and formulas reads back to an equal plan") {
  const Plan plan = planned(
      small + ring_allreduce + single + network + "[grid]\n\"training.learning_rate\" = \"range(0.1,0.3,0.1)\"\n",
      {.grids = {"zip(data.samples=100,200; data.features=3,4)", "cluster.workers=range(1,2)"}});
  const Plan again = planned(scenario::toml(plan.scenario));
  CHECK(plan.runs.size() == 48);  // 3 rates x 2 workers x 2 networks x 2 data, 2 strategies
  CHECK(points_of(again) == points_of(plan));
  REQUIRE(again.runs.size() == plan.runs.size());
  for (std::size_t i = 0; i < plan.runs.size(); ++i) CHECK(again.runs[i].id == plan.runs[i].id);
  CHECK(again.scenario == plan.scenario);
}

TEST_CASE("a key that the command line sets or varies leaves its zip") {
  const std::string text = small + ring_allreduce + network;
  CHECK(points_of(planned(text, {.sets = {"cluster.latency=1us"}})) ==
        "{\"cluster.bandwidth\":\"1Gbps\"}\n{\"cluster.bandwidth\":\"10Gbps\"}\n");
  CHECK(planned(text, {.grids = {"cluster.latency=1us,2us,3us"}}).runs.size() == 6);
  CHECK(planned(text, {.grids = {"zip(cluster.latency=1us,2us,3us; cluster.workers=1,2,3)"}}).runs.size() == 6);
  CHECK(planned(text, {.grids = {"zip(cluster.latency=1us,2us; cluster.bandwidth=1Gbps,2Gbps)"}}).runs.size() == 2);
  CHECK(points_of(planned(text, {.grids = {"data.samples=100", "cluster.latency=1us"}})) ==
        R"({"data.samples":100,"cluster.latency":"1us","cluster.bandwidth":"1Gbps"}
{"data.samples":100,"cluster.latency":"1us","cluster.bandwidth":"10Gbps"}
)");
}

TEST_CASE("an option --set that an option --grid replaces is refused") {
  const std::string text = small + ring_allreduce;
  CHECK_THAT(refusal(text, {.sets = {"cluster.latency=1us"}, .grids = {"cluster.latency=2us,3us"}}),
             ContainsSubstring("\"cluster.latency\" is varied here, so that --set cluster.latency=1us has no effect"));
  CHECK_THAT(
      refusal(text, {.sets = {"cluster.topology.nics=1"}, .grids = {"cluster.topology=pod,star"}}),
      ContainsSubstring("--set cluster.topology.nics=1 has no effect; give cluster.topology.nics in the values"));
  CHECK(planned(text, {.sets = {"cluster.topology=ring"}, .grids = {"cluster.latency=2us,3us"}}).runs.size() == 2);
}

TEST_CASE("a zip may name a value of one key twice, but not twice the same values of all") {
  CHECK(planned(small + ring_allreduce, {.grids = {"zip(cluster.workers=1,1; data.samples=100,200)"}}).runs.size() ==
        2);
  CHECK(refusal(small + ring_allreduce, {.grids = {"zip(cluster.workers=1,1; data.samples=100,100.0)"}}) ==
        "--grid zip(cluster.workers=1,1; data.samples=100,100.0): two points of the grid are equal: cluster.workers = "
        "1, data.samples = 100, and cluster.workers = 1, data.samples = 100.0; leave one of them out");
  CHECK(refusal(small + ring_allreduce, {.grids = {"zip(cluster.workers=1,1; data.samples=100,100)"}}) ==
        "--grid zip(cluster.workers=1,1; data.samples=100,100): \"cluster.workers\" takes the value 1 while "
        "\"data.samples\" takes the value 100 twice");
}

TEST_CASE("an expectation may name values of zips and formulas, and no others") {
  const auto with_where = [](const std::string& where) {
    return small + ring_allreduce + network +
           "[grid]\n\"cluster.workers\" = \"range(2,4)\"\n[[expect]]\nmetric = \"steps\"\n"
           "at_least = 1\nwhere = { " +
           where + " }\n";
  };
  CHECK(refusal(with_where("\"cluster.workers\" = 3, \"cluster.latency\" = \"5us\"")) == "accepted");
  CHECK(
      refusal(with_where("\"cluster.workers\" = 5")).find("the grid has no point with cluster.workers = 5; it takes") !=
      std::string::npos);
}

TEST_CASE("a scenario that extends another has the ids of the flat one") {
  const tests::Scratch scratch;
  scratch.write("d.csv", "a,b\n1,2\n3,5\n4,7\n");
  const std::string data = "[data]\nsource = \"csv\"\npath = \"d.csv\"\n";
  const std::string rest = "[model]\nkind = \"least_squares\"\n[stop]\nsteps = 2\n" + ring_allreduce;
  const Plan flat = make_plan(scratch.write("flat.toml", "[cluster]\nworkers = 2\n" + data + rest), {});
  std::filesystem::create_directory(scratch.path() + "/sub");
  scratch.write("base.toml", "[cluster]\nworkers = 3\n" + data + rest);
  const Plan laid =
      make_plan(scratch.write("sub/laid.toml", "extends = \"../base.toml\"\n[cluster]\nworkers = 2\n"), {});
  CHECK(laid.runs[0].id == flat.runs[0].id);
  CHECK(laid.baselines[0].id == flat.baselines[0].id);
  CHECK(laid.name == "laid");
  CHECK(laid.scenario["data"]["path"] == scratch.path() + "/d.csv");
  CHECK_FALSE(laid.scenario.contains("extends"));
}

TEST_CASE("ids stay what they are from release to release, unless results_number changes") {
  REQUIRE(results_number == 6);
  const auto ids = [](const Plan& plan) {
    std::string all;
    for (const auto* runs : {&plan.baselines, &plan.runs})
      for (const RunPlan& run : *runs) all += run.id + " ";
    return all;
  };
  const std::string text = small + ring_allreduce + single;
  CHECK(ids(planned(text, {.seeds = "1,18446744073709551615"})) ==
        "231f36e5a0bdd736 255e7211978667b9 d98faff9c6523391 a35222ad92a3cf57 846f5eb5aa483616 5f756be4a37f66ad ");
  CHECK(ids(planned(text + "[[job]]\nname = \"a\"\nstrategy = \"allreduce\"\nworkers = 2\n[[job]]\nname = \"b\"\n"
                           "strategy = \"single\"\nworkers = 1\n[job.data]\nsamples = 50\n")) ==
        "417d453575b708b8 548d144f053c98c5 ");
}

TEST_CASE("a run of a large plan is planned as it is by itself") {
  // Every section varies, so that each is shared by some neighbours and not by others.
  const std::vector<std::string> grids{"cluster.workers=1,3",
                                       "data.samples=100,150",
                                       "model.bias=false,true",
                                       "training.partition=iid,contiguous",
                                       "training.checkpoint_every_steps=0,2",
                                       "stop.steps=2,3",
                                       "evaluate.every_steps=1,2",
                                       "strategy.allreduce.algorithm=ring,tree",
                                       "cluster.jitter=none,log_normal"};
  const std::string text = small + ring_allreduce + single + "[prices]\nworker = \"2$/h\"\n";
  const Plan plan = planned(text, {.grids = grids, .seeds = "1..2"});
  CHECK(plan.runs.size() == (std::size_t{1} << grids.size()) * 4);
  for (std::size_t i = 0; i < plan.runs.size(); i += 37) {
    const RunPlan& run = plan.runs[i];
    scenario::Document document = *plan.document;
    for (const auto& [key, value] : run.parameters.items()) document.set(key, scenario::Value{value.dump(), {}});
    scenario::Faults faults;
    auto settings = std::make_shared<Settings>(read_settings(document, faults));
    REQUIRE(faults.empty());
    settings->nominal_flops_per_s = settings->cluster.speed(0);
    PointPlanner planner(settings, run.parameters);
    const std::size_t strategy = run.kind == "single" ? 1 : 0;
    CAPTURE(run.parameters.dump());
    CHECK(planner.run(strategy, run.seed).id == run.id);
    CHECK(planner.run(strategy, run.seed).work == run.work);
    CHECK(planner.baseline(strategy, run.seed).id == run.baseline);
    CHECK(planner.run(strategy, run.seed).data_key() == run.data_key());
  }
}

TEST_CASE("the sections that a point shares with the one before are those that it would read") {
  const Plan plan = planned(small + ring_allreduce, {.grids = {"cluster.workers=1,2", "data.samples=100,200"}});
  for (const RunPlan& run : plan.runs) {
    CHECK(run.settings->cluster.workers == run.parameters["cluster.workers"]);
    CHECK(run.settings->data.samples == run.parameters["data.samples"].get<std::int64_t>());
    CHECK(run.settings->places.workers.text().find("--grid cluster.workers") == 0);
  }
}

TEST_CASE("a grid's size is exact, however large") {
  std::vector<scenario::Axis> axes;
  for (int k = 0; k < 7; ++k)
    axes.push_back({.key = "k" + std::to_string(k), .values = std::vector<scenario::Value>(1001), .position = {}});
  const auto told = [&](std::size_t strategies, std::size_t seeds) -> std::string {
    try {
      refuse_too_many("x.toml", axes, strategies, seeds);
    } catch (const base::ScenarioError& error) {
      return error.what();
    }
    return "accepted";
  };
  // 1001^7 = 1007021035035021007001
  CHECK(told(3, 2).find("the grid has 1007021035035021007001 points (k0: 1001 values, ") != std::string::npos);
  CHECK(told(3, 2).find("with 3 strategies and 2 seeds are 6042126210210126042006 runs") != std::string::npos);
  axes.resize(1);
  CHECK(told(1, 1) == "accepted");
  CHECK(told(99, 1) == "accepted");
  CHECK(told(100, 1).find("are 100100 runs; at most 100000 runs are planned") != std::string::npos);
  axes[0].values.resize(points_most);
  CHECK(told(4, 1) == "accepted");
  axes[0].values.resize(points_most + 1);
  CHECK(told(1, 1).find("the grid has 20001 points (k0: 20001 values), which with 1 strategy and 1 seed") !=
        std::string::npos);
}

}  // namespace points_test
