// Runs whose collectives are computed from routes, and runs that must go message by message.
#include "catch.h"
#include "cli/scenario.h"

namespace collective_routes_test {

using namespace simgrad::tests;
namespace {

const std::string racks = std::string(SIMGRAD_SOURCE_DIR) + "/scenarios/oversubscribed_racks.toml";

Json runs(const Scratch& scratch, const std::string& out, const std::string& arguments) {
  REQUIRE(program("run " + racks + " --quiet --no-why --out " + out + " " + arguments, scratch).exit_code == 0);
  return results_in(scratch, out)["runs"];
}

bool notes_have(const Json& run, const std::string& text) {
  for (const std::string note : run["notes"])
    if (note.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a run whose groups may meet on a link goes message by message, and says so") {
  const Scratch scratch;
  const Json computed = runs(scratch, "auto", "");
  const Json messages = runs(scratch, "messages", "--set cluster.collectives=messages");
  REQUIRE(computed.size() == messages.size());
  int by_routes = 0, by_messages = 0;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    CAPTURE(computed[i]["id"]);
    by_routes += notes_have(computed[i], "at their last arrival") ? 1 : 0;
    by_messages += notes_have(computed[i], "several transfers may be on link rack-") ? 1 : 0;
    CHECK_FALSE(notes_have(messages[i], "collectives were"));
    CHECK(computed[i]["simulated_s"].get<double>() == Approx(messages[i]["simulated_s"].get<double>()).epsilon(1e-9));
    CHECK(computed[i]["bytes"] == messages[i]["bytes"]);
  }
  CHECK(by_routes == 3);    // the ring, at three oversubscriptions
  CHECK(by_messages == 3);  // hierarchical: a ring for each place in a rack, all of them through the racks' uplinks
}

TEST_CASE("a run of many ranks says what keeps its collectives from being computed") {
  const Scratch scratch;
  scratch.write("x.toml", R"([cluster]
workers = 64
[data]
samples = 64
features = 3
[model]
kind = "least_squares"
[training]
numbers = false
[stop]
steps = 1
[[strategy]]
kind = "allreduce"
algorithm = "rabenseifner"
)");
  const std::string said = "collectives were simulated message by message: with ";
  for (const auto& [options, reason] :
       {std::pair<std::string, std::string>{"cluster.network_model=tcp", "cluster.network_model"},
        {"cluster.jitter=log_normal", "cluster.jitter"},
        {"cluster.stragglers=markov", "cluster.stragglers"},
        {"cluster.link_bins=4", "cluster.link_bins"},
        {"strategy.0.algorithm=ring", ""},
        {"cluster.collectives=messages", ""},
        {"cluster.workers=63 --set cluster.jitter=log_normal", ""}}) {
    CAPTURE(options);
    REQUIRE(program("run x.toml --quiet --no-why --no-baseline --force --set " + options, scratch).exit_code == 0);
    const Json run = results_in(scratch, "out/x")["runs"][0];
    CHECK(notes_have(run, said) == !reason.empty());
    if (!reason.empty()) CHECK(notes_have(run, said + reason + " they cannot be computed from their routes"));
  }
}

}  // namespace collective_routes_test
