// Refusals of [[expect]]; expectations do not change runs.
#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"

namespace expectations_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// Faults without the file's directory and name: "line:column: message".
std::vector<std::string> faults(const std::string& text, const Selection& selection = {}) {
  try {
    planned(text, selection);
  } catch (const base::ScenarioError& error) {
    std::vector<std::string> all;
    for (const std::string& fault : error.faults()) {
      const auto at = fault.find("x.toml:");
      all.push_back(at == std::string::npos ? fault : fault.substr(at + 7));
    }
    return all;
  }
  return {};
}

using Faults = std::vector<std::string>;

const std::string grid = "[grid]\n\"cluster.workers\" = [2, 4]\n";
const std::string scenario_text = small + plain_allreduce + grid;  // 14 lines

std::string expects(const std::string& lines) { return scenario_text + "[[expect]]\n" + lines; }

}  // namespace

TEST_CASE("an expectation needs a known metric and a bound that something can meet") {
  CHECK(faults(expects("metric = \"final_loss\"\nat_most = 1\n")).empty());
  CHECK(faults(expects("at_most = 1\n")) ==
        Faults{"15:1: an expectation needs a metric, such as speedup_throughput or final_loss"});
  CHECK(
      faults(expects("metric = \"final_los\"\nat_most = 1\n")) ==
      Faults{"16:1: a run has no number \"final_los\"; did you mean \"final_loss\"? \"simgrad explain metrics\" lists "
             "all of them"});
  CHECK(faults(expects("metric = \"bandwidth\"\nat_most = 1\n")) ==
        Faults{"16:1: a run has no number \"bandwidth\"; \"simgrad explain metrics\" lists all of them"});
  CHECK(faults(expects("metric = \"steps\"\n")) ==
        Faults{"16:1: an expectation without a bound holds always; give it at_least, at_most, equals or better_than"});
  CHECK(faults(expects("metric = \"steps\"\nat_least = \"two\"\n")) ==
        Faults{"17:12: at_least must be a number, found \"two\""});
  CHECK(faults(expects("metric = \"steps\"\nat_least = 2\nat_most = 1\n")) ==
        Faults{"17:1: no number is at least 2 and at most 1; exchange them"});
  CHECK(faults(expects("metric = \"steps\"\nat_least = 2\nequals = 2\n")) ==
        Faults{"18:1: \"equals\" is bound enough; leave out at_least and at_most, or leave out \"equals\""});
  CHECK(faults(expects("metric = \"steps\"\nat_least = 2\ntolerance = 0.1\n")) ==
        Faults{"18:1: a tolerance belongs to \"equals\"; add \"equals\", or leave out the tolerance"});
  CHECK(
      faults(expects("metric = \"steps\"\nequals = 0\ntolerance = 0.1\n")) ==
      Faults{
          "18:1: a tolerance is a share of \"equals\", and a share of zero is zero; use at_most and at_least instead"});
  CHECK(faults(expects("metric = \"steps\"\nequals = 0\n")).empty());
}

TEST_CASE("a relative expectation names a strategy and grid points that there are") {
  const std::string start = "metric = \"steps\"\nat_most = 2\n";
  CHECK(faults(expects(start + "relative_to = \"allreduce\"\n")).empty());
  CHECK(faults(expects(start + "relative_where = { \"cluster.workers\" = 2 }\n")).empty());
  CHECK(faults(expects(start + "relative_to = \"allreduc\"\n"))
            .at(0)
            .starts_with("18:1: no strategy of the scenario is called \"allreduc\"; did you mean \"allreduce\"?"));
  CHECK(faults(expects(start + "relative_where = { \"cluster.workers\" = 3 }\n")) ==
        Faults{"18:1: the grid has no point with cluster.workers = 3; it takes 2, 4"});
  CHECK(faults(expects("metric = \"wall_s\"\nat_most = 60\n")) ==
        Faults{"16:1: wall_s depends on the machine; expect a number of the simulation, such as simulated_s"});
  CHECK(faults(expects("metric = \"steps\"\nequals = 2\ntolerance = -1\n"))
            .at(0)
            .starts_with("18:13: tolerance must be at least 0"));
}

TEST_CASE("better_than needs a metric with a direction and a strategy, and stands alone") {
  const std::string start = "metric = \"simulated_s\"\nbetter_than = \"allreduce\"\n";
  CHECK(faults(expects(start)).empty());
  CHECK(faults(expects(start + "confidence = 0.99\n")).empty());
  CHECK(faults(expects("metric = \"steps\"\nbetter_than = \"allreduce\"\n")) ==
        Faults{
            "16:1: more of \"steps\" is neither better nor worse, so \"better_than\" cannot be decided; choose another "
            "metric, such as time_to_target_s: \"simgrad explain metrics\" says of which ones more, or less, is "
            "better"});
  CHECK(faults(expects("metric = \"simulated_s\"\nbetter_than = \"alreduce\"\n"))
            .at(0)
            .starts_with("17:1: no strategy of the scenario is called \"alreduce\"; did you mean \"allreduce\"?"));
  for (const std::string beside : {"at_least", "at_most", "equals"})
    CHECK(faults(expects(start + beside + " = 1\n")) ==
          Faults{"18:1: \"better_than\" says all; leave out \"" + beside + "\", or leave out \"better_than\""});
  CHECK(faults(expects(start + "relative_to = \"allreduce\"\nrelative_where = { \"cluster.workers\" = 2 }\n")).size() ==
        2);
  CHECK(faults(expects(start + "confidence = 0.3\n")).at(0).starts_with("18:14: confidence must be from 0.5 to "));
  CHECK(faults(expects("metric = \"steps\"\nequals = 2\nconfidence = 0.9\n")) ==
        Faults{"18:1: a confidence belongs to \"better_than\"; add it, or leave out the confidence"});
}

TEST_CASE("an expectation of a strategy, a key or a value that is not there is refused, all in one pass") {
  CHECK(faults(expects("strategy = \"alreduce\"\nmetric = \"stps\"\nat_least = 1\nwhere = { \"cluster.worker\" = 2 }\n"
                       "[[expect]]\nmetric = \"steps\"\nat_least = 1\nwhere = { \"cluster.workers\" = 8 }\n")) == [] {
    Faults expected = {
        "16:1: no strategy of the scenario is called \"alreduce\"; did you mean \"allreduce\"? Known: allreduce"};
    expected.push_back(faults(expects("\nmetric = \"stps\"\nat_least = 1\n")).at(0));
    expected.push_back(
        "19:1: the grid has no key \"cluster.worker\"; did you mean \"cluster.workers\"? Known: cluster.workers");
    expected.push_back("23:1: the grid has no point with cluster.workers = 8; it takes 2, 4");
    return expected;
  }());
  CHECK(faults(small + plain_allreduce +
               "[[expect]]\nmetric = \"steps\"\nequals = 2\nwhere = { \"cluster.workers\" = 4 }\n") ==
        Faults{"16:1: \"where\" names grid points, but the scenario has no [grid]; leave it out, or add a grid"});
  CHECK(faults(small + plain_allreduce +
               "[[expect]]\nmetric = \"steps\"\nequals = 2\n[grid]\n\"expect.0.equals\" = [1, 2]\n") ==
        Faults{"17:1: an expectation is about the whole grid, which cannot vary it; use its \"where\""});
}

TEST_CASE("a strategy is known by its label of any grid point, by its kind, or as a job") {
  const std::string labels =
      small + "[[strategy]]\nkind = \"parameter_server\"\n[grid]\n\"strategy.0.servers\" = [1, 2]\n";
  for (const char* name : {"parameter_server", "parameter_server(servers=2)"})
    CHECK(faults(labels + "[[expect]]\nstrategy = \"" + name + "\"\nmetric = \"steps\"\nequals = 2\n").empty());
  const std::string jobs = small + plain_allreduce + "[[job]]\nname = \"a\"\nstrategy = \"allreduce\"\nworkers = 2\n";
  for (const char* name : {"a", "allreduce"})
    CHECK(faults(jobs + "[[expect]]\nstrategy = \"" + name + "\"\nmetric = \"interference\"\nat_most = 2\n").empty());
  CHECK(faults(jobs + "[[expect]]\nstrategy = \"b\"\nmetric = \"steps\"\nat_most = 2\n")
            .at(0)
            .starts_with("18:1: no strategy of the scenario is called \"b\""));
}

TEST_CASE("a strategy that cannot be read is one fault, not two") {
  CHECK(faults(
            small +
            "[[strategy]]\nkind = \"alreduce\"\n[[expect]]\nstrategy = \"allreduce\"\nmetric = \"steps\"\nequals = 2\n")
            .size() == 1);
}

TEST_CASE("the command line may take away the grid point that an expectation is about") {
  const std::string text = expects("metric = \"steps\"\nequals = 2\nwhere = { \"cluster.workers\" = 4 }\n");
  CHECK(faults(text, {.sets = {"cluster.workers=3"}}).empty());
  CHECK(faults(text, {.grids = {"cluster.workers=2"}}).empty());
  CHECK(faults(expects("metric = \"steps\"\nequals = 2\nwhere = { seed = 4 }\n"), {.grids = {"seed=3,4"}}).empty());
}

TEST_CASE("expectations change nothing of the runs, and stand in the resolved scenario") {
  const Plan without = planned(scenario_text);
  const Plan with =
      planned(expects("metric = \"steps\"\nequals = 2\ntolerance = 0.5\nwhere = { \"cluster.workers\" = 4 }\n"));
  REQUIRE(with.runs.size() == without.runs.size());
  for (std::size_t i = 0; i < with.runs.size(); ++i) CHECK(with.runs[i].id == without.runs[i].id);
  for (std::size_t i = 0; i < with.baselines.size(); ++i) CHECK(with.baselines[i].id == without.baselines[i].id);
  CHECK_FALSE(without.scenario.contains("expect"));
  CHECK(with.scenario["expect"].dump() ==
        R"([{"metric":"steps","equals":2.0,"tolerance":0.5,"where":{"cluster.workers":4}}])");
  CHECK(with.expectations.size() == 1);
}

}  // namespace expectations_refusals_test
