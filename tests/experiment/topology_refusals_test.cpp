// Refusals of topologies, with their positions: what was given, and what would do.
#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"

namespace topology_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// The faults of `small` with that topology, and with so many workers instead of its four.
std::string faults_of(const std::string& topology, int workers = 4) {
  std::string text = small + ring_allreduce;
  text.insert(text.find("[data]"), "topology = " + topology + "\n");
  const tests::Scratch scratch;
  try {
    make_plan(scratch.write("x.toml", text), {.sets = {"cluster.workers=" + std::to_string(workers)}});
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return "accepted";
}

void check_refused(const std::string& topology, int workers, const std::string& why) {
  const std::string text = faults_of(topology, workers);
  CAPTURE(topology, text);
  CHECK(text.find(why) != std::string::npos);
  CHECK(text.find("x.toml:4:") != std::string::npos);
}

}  // namespace

TEST_CASE("pods are refused whose devices, NICs or fabric contradict each other") {
  check_refused("\"pod\"", 20, "20 workers do not fill hosts of 8 devices; expected 16 or 24");
  check_refused("{ kind = \"pod\", devices = 4, nics = 8 }", 4, "8 NICs for 4 devices; expected at most one a device");
  check_refused("{ kind = \"pod\", oversubscription = 0.5 }", 4,
                "oversubscription must be from 1 to 1000000, found 0.5");
  check_refused("{ kind = \"pod\", rails = false, pxn = true }", 4, "pxn = true takes the receiver's rail, but rails");
  check_refused("{ kind = \"pod\", routing = \"spray\" }", 4, "destination, ecmp");
  CHECK(faults_of("\"pod\"", 1) == "accepted");
  CHECK(faults_of("{ kind = \"pod\", devices = 2, nics = 2 }") == "accepted");
}

TEST_CASE("slices of a torus are refused that do not fit into it, or do not hold the workers") {
  check_refused("{ kind = \"torus\", slice = [2, 2] }", 4, "slice = [2, 2] has 2 dimensions, but shape = [] has 0");
  check_refused("{ kind = \"torus\", shape = [4, 4, 4], slice = [2, 2] }", 4,
                "slice = [2, 2] has 2 dimensions, but shape = [4, 4, 4] has 3; give as many");
  check_refused("{ kind = \"torus\", shape = [4, 1], slice = [2, 2] }", 4,
                "slice = [2, 2] does not fit into shape = [4, 1]: expected at most 1 in dimension 1");
  check_refused("{ kind = \"torus\", shape = [4, 4], slice = [2, 3] }", 4,
                "slice = [2, 3] has 6 hosts, but workers = 4; expected sides whose product is 4");
  check_refused("{ kind = \"torus\", shape = [4, 4], slice = [1.5, 2] }", 4, "expected whole numbers");
  CHECK(faults_of("{ kind = \"torus\", shape = [4, 4], slice = [2, 2] }") == "accepted");
}

TEST_CASE("more hosts than a run has are refused, and a fat tree of too many ports") {
  check_refused("{ kind = \"fat_tree\", k = 84 }", 4, "k must be from 2 to 82, found 84");
  CHECK(faults_of("\"ring\"", 131'073).find("workers must be from 1 to 131072, found 131073") != std::string::npos);
}

}  // namespace topology_refusals_test
