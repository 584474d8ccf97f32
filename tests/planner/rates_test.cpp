// The hosts that a plan says are to be rented.
#include "planner/rates.h"

#include "catch.h"
#include "planner/regressions.h"
#include "planner/variants.h"
#include "scratch.h"

namespace rates_test {

using namespace simgrad;
using namespace simgrad::planner;

namespace {

/// The hosts of a strategy's only candidate.  cluster: the lines of its table.
std::string hosts_of(const std::string& cluster, const std::string& strategy) {
  const tests::Scratch scratch;
  const std::string scenario = tests::regressions(cluster, "[[strategy]]\nkind = \"" + strategy + "\"\n");
  const experiment::SearchSpace space = experiment::make_search_space(scratch.write("x.toml", scenario), {});
  const Candidates candidates = candidates_of(space, {});
  REQUIRE(candidates.all.size() == 1);
  return hosts_text(candidates.all.front());
}

/// The hosts of sixteen workers on a topology.
std::string hosts_of(const std::string& topology) {
  return hosts_of("workers = 16\ntopology = " + topology, "allreduce");
}

}  // namespace

TEST_CASE("Workers that have a host each are as many hosts") { CHECK(hosts_of("\"star\"") == "16 hosts"); }

TEST_CASE("Each worker and each server has a host of a platform") {
  const std::string cluster = "workers = 8\nplatform = \"" SIMGRAD_SOURCE_DIR "/platforms/classroom.xml\"\n";
  CHECK(hosts_of(cluster, "allreduce") == "8 hosts");
  CHECK(hosts_of(cluster, "parameter_server") == "9 hosts");
}

TEST_CASE("Sixteen workers are on sixteen hosts at most") {
  for (const char* topology : {"{ kind = \"gpu_hosts\", devices = 8 }", "{ kind = \"gpu_hosts\", devices = 4 }"}) {
    CAPTURE(topology);
    CHECK(std::stoi(hosts_of(topology)) <= 16);
  }
}

// tests/known_faults.toml, entry F4: devices are counted as hosts.
TEST_CASE("Workers that are devices of a host are as many hosts as hold them", "[!shouldfail]") {
  CHECK_THAT(hosts_of("{ kind = \"gpu_hosts\", devices = 8 }"), StartsWith("2 hosts"));
}

}  // namespace rates_test
