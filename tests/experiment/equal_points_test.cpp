// Grid points that are there twice, and a fault that many values of a list have.
#include <array>

#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"

namespace equal_points_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

using Faults = std::vector<std::string>;

/// The faults of the plan, without the name of the file.
Faults faults(const std::string& text, const Selection& selection = {}) {
  const tests::Scratch scratch;
  const std::string file = scratch.write("x.toml", text);
  try {
    make_plan(file, selection);
  } catch (const base::ScenarioError& error) {
    Faults all = error.faults();
    for (std::string& fault : all)
      if (fault.starts_with(file)) fault = fault.substr(file.size() + 1);
    return all;
  }
  return {};
}

const std::string scenario_text = small + plain_allreduce;  // 12 lines

Faults of_grids(const std::vector<std::string>& grids) { return faults(scenario_text, {.grids = grids}); }

/// The fault of an option with one axis.
std::string twice(const std::string& option, const std::string& first, const std::string& second) {
  return "--grid " + option + ": \"" + option.substr(0, option.find('=')) + "\" takes one value twice, as " + first +
         " and as " + second + "; leave one of them out";
}

}  // namespace

TEST_CASE("a value in two spellings is refused with both, whatever writes them") {
  for (const auto& [option, first, second] : std::vector<std::array<std::string, 3>>{
           {"cluster.bandwidth=1Gbps,10Gbps,1000Mbps", "\"1Gbps\"", "\"1000Mbps\""},
           {"training.learning_rate=1,1.0", "1", "1.0"},
           {"data.samples=1000,1e3", "1000", "1000.0"},
           {"cluster.latency=logspace(1us,100us,3),0.01ms", "\"10us\"", "\"0.01ms\""},
           {"cluster.latency=range(10us,30us,10us),0.02ms", "\"20us\"", "\"0.02ms\""},
           {"cluster.topology=star,{kind=\"star\"}", "\"star\"", "{ kind = \"star\" }"}}) {
    CAPTURE(option);
    CHECK(of_grids({option}) == Faults{twice(option, first, second)});
  }
  CHECK(faults(scenario_text + "[grid]\n\"cluster.bandwidth\" = [\"1Gbps\",\n  \"1000Mbps\"]\n") ==
        Faults{"15:3: \"cluster.bandwidth\" takes one value twice, as \"1Gbps\" and as \"1000Mbps\"; leave one of them "
               "out"});
}

TEST_CASE("each value that is there twice is one fault, however many points it has") {
  const std::string bandwidths = "cluster.bandwidth=1Gbps,1000Mbps,1e9bps", latencies = "cluster.latency=50us,0.05ms";
  CHECK(of_grids({bandwidths, "cluster.workers=1,2", latencies}) ==
        Faults{twice(latencies, "\"50us\"", "\"0.05ms\""), twice(bandwidths, "\"1Gbps\"", "\"1000Mbps\""),
               twice(bandwidths, "\"1Gbps\"", "\"1e9bps\"")});
}

TEST_CASE("a zip may have a value in two spellings, but not a point") {
  CHECK(of_grids({"zip(cluster.bandwidth=1Gbps,1000Mbps; cluster.latency=50us,5us)"}).empty());
  const std::string equal = "zip(cluster.bandwidth=1Gbps,1000Mbps; cluster.latency=50us,0.05ms)";
  CHECK(of_grids({equal}) ==
        Faults{"--grid " + equal +
               ": two points of the grid are equal: cluster.bandwidth = \"1Gbps\", cluster.latency = \"50us\", and "
               "cluster.bandwidth = \"1000Mbps\", cluster.latency = \"0.05ms\"; leave one of them out"});
}

TEST_CASE("points with equal ids are no equal points where their options differ") {
  // The option is that of a strategy which does not run.
  CHECK(faults(scenario_text + single, {.grids = {"strategy.allreduce.algorithm=ring,tree"}, .strategies = {"single"}})
            .empty());
  // Two files of equal contents.
  const tests::Scratch scratch;
  const std::string one = scratch.write("one.csv", "a,b\n1,2\n3,5\n4,7\n");
  const std::string other = scratch.write("other.csv", "a,b\n1,2\n3,5\n4,7\n");
  const std::string text = "[cluster]\nworkers = 2\n[data]\nsource = \"csv\"\npath = \"" + one +
                           "\"\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 2\n" + plain_allreduce;
  const Plan plan = planned(text, {.grids = {"data.path=" + one + "," + other}});
  REQUIRE(plan.runs.size() == 2);
  CHECK(plan.runs[0].id == plan.runs[1].id);
}

TEST_CASE("a key in two options --grid is refused, in a zip or not") {
  CHECK(of_grids({"cluster.workers=1,2", "cluster.workers=3,4"}) ==
        Faults{"--grid cluster.workers=3,4: \"cluster.workers\" is varied twice, first by --grid cluster.workers=1,2; "
               "give all its values in one option"});
  CHECK(of_grids({"zip(cluster.workers=1,2; data.samples=100,200)", "cluster.workers=3"}).size() == 1);
  // An option may replace an axis of the file.
  CHECK(faults(scenario_text + "[grid]\n\"cluster.workers\" = [1, 2]\n", {.grids = {"cluster.workers=3"}}).empty());
}

TEST_CASE("a fault that many values of a formula have is told once, with the first value") {
  const std::string range = "cluster.bandwidth=range(1us,10us,1us)";
  const std::string known =
      "; expected a bandwidth, as in \"10Gbps\"; known: bps, bit/s, Bps, B/s with k, M, G, T, P (1000) or Ki, Mi, Gi, "
      "Ti, "
      "Pi (1024) (the same fault in 9 more values of the list: \"2us\", \"3us\", \"4us\", \"5us\", \"6us\", \"7us\", "
      "and 3 more)";
  CHECK(of_grids({range}) == Faults{"--grid " + range + ": bandwidth: unknown unit \"us\" in \"1us\"" + known});
  CHECK(faults(scenario_text + "[grid]\n\"cluster.bandwidth\" = \"range(1us,10us,1us)\"\n") ==
        Faults{"14:23: bandwidth: unknown unit \"us\" in \"1us\"" + known});
  // Beside another axis, and together with a fault of another kind.
  CHECK(of_grids({"cluster.workers=0,-1,1.5,2", "data.samples=range(100,200,50)"}) ==
        Faults{"--grid cluster.workers=0,-1,1.5,2: workers must be from 1 to 131072, found 0 (the same fault in 1 more "
               "value of the list: -1)",
               "--grid cluster.workers=0,-1,1.5,2: workers must be an integer, found 1.5"});
  const std::string zip = "zip(cluster.bandwidth=range(1us,3us,1us); cluster.workers=range(0,2))";
  const Faults zipped = of_grids({zip});
  REQUIRE(zipped.size() == 2);
  CHECK(zipped[0].starts_with("--grid " + zip + ": workers must be from 1 to 131072, found 0"));
  CHECK(zipped[1].ends_with(" (the same fault in 2 more values of the list: \"2us\", \"3us\")"));
}

TEST_CASE("behind two hundred faults no other point is read, and the fault says at how many values it is at least") {
  CHECK(
      of_grids({"cluster.workers=range(-5000,-1,1)"}) ==
      Faults{"--grid cluster.workers=range(-5000,-1,1): workers must be from 1 to 131072, found -5000 (the same fault "
             "in at least 199 more values of the list: -4999, -4998, -4997, -4996, -4995, -4994, and 193 more)"});
}

TEST_CASE("values that stand at places of their own have faults of their own") {
  CHECK(
      faults(scenario_text + "[grid]\n\"cluster.workers\" = [0, 1, -1]\n") ==
      Faults{"14:22: workers must be from 1 to 131072, found 0", "14:28: workers must be from 1 to 131072, found -1"});
}

}  // namespace equal_points_test
