// simgrad plan: the winner is the best of the full grid, however it is found.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "catch.h"
#include "cli/planning.h"

namespace plan_test {

using namespace simgrad::tests;

namespace {

/// The least of a metric over the runs of the full grid that are at the target and that `allowed` holds for.
double least_of_grid(
    const Json& results, const std::string& metric,
    const std::function<bool(const Json& run)>& allowed = [](const Json&) { return true; }) {
  double least = 1e300;
  for (const Json& run : results.at("runs"))
    if (run.at("status") == "reached" && allowed(run)) least = std::min(least, run.at(metric).get<double>());
  return least;
}

Json full_grid() { return results_of(with(twelve, "[plan.space]", "[grid]"), "--no-baseline --no-why"); }

}  // namespace

TEST_CASE("plan finds the best of the full grid, by money, time and energy") {
  const Json grid = full_grid();
  const std::map<std::string, std::pair<std::string, std::string>> objectives{
      {"cheapest", {"cost_usd", "cost_to_target_usd"}},
      {"fastest", {"time_s", "time_to_target_s"}},
      {"least_energy", {"energy_j", "energy_to_target_j"}}};
  for (const auto& [objective, fields] : objectives) {
    const Json plan = plan_of(with(twelve, "\"cheapest\"", "\"" + objective + "\""));
    CAPTURE(objective, plan["winner"].dump());
    CHECK(plan["decided"] == true);
    CHECK(plan["winner"][fields.first].get<double>() == Approx(least_of_grid(grid, fields.second)).epsilon(1e-9));
  }
}

TEST_CASE("A deadline leaves the cheapest of those that meet it") {
  const Json grid = full_grid();
  const double fastest = least_of_grid(grid, "time_to_target_s");
  const double deadline = 1.2 * fastest;
  const Json plan = plan_of(with(twelve, "seeds = 1", "seeds = 1\ndeadline = \"" + std::to_string(deadline) + "s\""));
  const double expected = least_of_grid(grid, "cost_to_target_usd", [&](const Json& run) {
    return run.at("time_to_target_s").get<double>() <= deadline;
  });
  CHECK(plan["winner"]["cost_usd"].get<double>() == Approx(expected).epsilon(1e-9));
  REQUIRE(plan["limits"].size() == 1);
  CHECK(plan["limits"][0]["limit"] == "deadline");
  const bool binds = expected > least_of_grid(grid, "cost_to_target_usd") * (1.0 + 1e-9);
  CHECK(plan["limits"][0]["without"].is_null() == !binds);
}

TEST_CASE("The front has every way that no other beats in time, money and energy") {
  const Json plan = plan_of(twelve);
  REQUIRE(plan["front_decided"] == true);
  const Json grid = full_grid();
  std::size_t on_front = 0;
  std::set<std::pair<double, double>> seen;
  for (const Json& run : grid.at("runs")) {
    if (run.at("status") != "reached") continue;
    const auto number = [](const Json& of, const char* key) { return of.at(key).get<double>(); };
    const bool beaten = std::ranges::any_of(grid.at("runs"), [&](const Json& other) {
      if (other.at("status") != "reached") return false;
      bool better = false, worse = false;
      for (const char* key : {"time_to_target_s", "cost_to_target_usd", "energy_to_target_j"}) {
        better = better || number(other, key) < number(run, key);
        worse = worse || number(other, key) > number(run, key);
      }
      return better && !worse;
    });
    if (!beaten) ++on_front;
  }
  CHECK(plan["front"].size() == on_front);
}

TEST_CASE("A plan goes on where it stopped, and simulates nothing twice") {
  const Scratch scratch;
  scratch.write("x.toml", twelve);
  const Called none = program("plan x.toml --json --seconds 1us", scratch);
  REQUIRE(none.exit_code == 0);
  CHECK(Json::parse(none.out)["decided"] == false);
  const Called first = program("plan x.toml --json", scratch);
  const std::string log = contents(scratch.path() + "/out/x/simulations.jsonl");
  const Called again = program("plan x.toml --json", scratch);
  CHECK(contents(scratch.path() + "/out/x/simulations.jsonl") == log);
  CHECK(plan_without_wall(Json::parse(again.out)) == plan_without_wall(Json::parse(first.out)));
}

TEST_CASE("The winner's scenario gives the winner's numbers") {
  const Scratch scratch;
  scratch.write("x.toml", twelve);
  const Called planned = program("plan x.toml --json", scratch);
  REQUIRE(planned.exit_code == 0);
  const Called run = program("run out/x/winner.toml --json --no-baseline --no-why --out out/winner", scratch);
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  const Json results = Json::parse(run.out);
  REQUIRE(results["runs"].size() == 1);
  CHECK(results["runs"][0]["cost_usd"].get<double>() ==
        Approx(Json::parse(planned.out)["winner"]["cost_usd"].get<double>()).epsilon(1e-12));
}

TEST_CASE("An amount of training is gone on with from steps that repeat") {
  const Json plan = plan_of(meshes);
  const Json grid = results_of(with(with(meshes, "steps = 1", "samples = 800"), "\"parallel.pipeline\" = [1, 2, 3, 4]",
                                    "\"parallel.pipeline\" = [1, 2, 4]"),
                               "--no-baseline --no-why --grid parallel.pipeline=1,2,4");
  double least = 1e300;
  for (const Json& run : grid.at("runs")) least = std::min(least, run.at("simulated_s").get<double>());
  CHECK(plan["winner"]["projected"] == true);
  CHECK(plan["winner"]["time_s"].get<double>() == Approx(least).epsilon(1e-9));
  REQUIRE(plan["refused"].size() == 1);
  CHECK(plan["refused"][0]["count"] == 1);
}

TEST_CASE("Layouts that do not fit are counted, with the nearest of them") {
  const Json plan =
      plan_of(with(meshes, "samples = 800\n\n[plan.space]", "samples = 800\nmemory = \"3.5MB\"\n\n[plan.space]"));
  std::size_t refused = 0;
  for (const Json& reason : plan["refused"]) refused += reason["count"].get<std::size_t>();
  CHECK(refused > 1);
  CHECK(plan["space"].get<std::size_t>() == refused + plan["candidates"].size());
}

TEST_CASE("The nearest layout that does not fit is named with the smallest change by which it does") {
  const std::string tight = meshes + "[[strategy]]\nkind = \"zero\"\n";
  for (const std::string& limited :
       {with(tight, "samples = 800\n\n[plan.space]", "samples = 800\nmemory = \"3.5MB\"\n\n[plan.space]"),
        with(tight, "memory = \"1GB\"", "memory = \"3.5MB\"")}) {
    const Json plan = plan_of(limited);
    const auto memory = std::ranges::find_if(plan["refused"], [](const Json& each) { return !each["near"].empty(); });
    REQUIRE(memory != plan["refused"].end());
    const Json& near = (*memory)["near"];
    CHECK(near.size() <= 3);
    CHECK(near[0]["text"] == (*memory)["nearest"]["text"]);
    const std::string change = near[0]["fits_with"][0];
    CAPTURE(near.dump(1));
    CHECK(contains((*memory)["nearest"]["fault"], "; it would fit with " + change));
    CHECK(std::ranges::any_of(plan["texts"]["refused"], [&](const Json& text) { return contains(text, change); }));
    // With the change the candidate is refused no more.
    const std::size_t equals = change.find(" = "), open = change.rfind(" (");
    REQUIRE_FALSE(contains(change, " and "));
    const std::string text = near[0]["text"];
    const std::string stages = text.substr(text.rfind(' ') + 1);
    const Json changed =
        plan_of(limited, "--strategy " + text.substr(0, text.find(',')) + " --set parallel.pipeline=" + stages +
                             " --set " + change.substr(0, equals) + "=" + change.substr(equals + 3, open - equals - 3));
    CHECK(changed["refused"].empty());
  }
}

TEST_CASE("A plan chooses its seeds itself") {
  const Scratch scratch;
  scratch.write("x.toml", twelve);
  const Called called = program("plan x.toml --seeds 1..3", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "--seeds 1..3: a plan chooses its seeds"));
}

TEST_CASE("Ways that are the same are a tie") {
  const Json plan = plan_of(with(with(twelve, "\"cluster.workers\" = [1, 2, 4]", "\"cluster.workers\" = [1]"),
                                 "kind = \"parameter_server\"\nconsistency = \"asp\"",
                                 "kind = \"allreduce\"\nalgorithm = \"recursive_doubling\""));
  REQUIRE(plan["ties"].size() == 1);
  CHECK(plan["ties"][0]["difference"] == 0.0);
  CHECK(contains(plan["texts"]["tie"], "exactly as much"));
}

}  // namespace plan_test
