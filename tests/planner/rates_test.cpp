// The hosts that a plan says are to be rented.
#include "planner/rates.h"

#include "base/errors.h"
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

TEST_CASE("Workers that are devices of a host are as many hosts as hold them") {
  CHECK(hosts_of("{ kind = \"gpu_hosts\", devices = 8 }") == "2 hosts of 8 devices (16 devices)");
  CHECK(hosts_of("{ kind = \"star\", devices = 4 }\ndevice = \"h100\"") == "4 hosts of 4 h100 (16 devices)");
  CHECK(hosts_of("{ kind = \"gpu_hosts\", devices = 16 }\ndevice = \"h100\"") == "1 host of 16 h100 (16 devices)");
  CHECK(hosts_of("{ kind = \"gpu_hosts\", devices = 12 }") == "2 hosts of 12 devices (16 devices)");
}

TEST_CASE("A host may have devices of two classes") {
  const std::string classes = "\nhosts = [{ class = \"old\", count = 12 }, { class = \"new\", count = 4 }]";
  CHECK(hosts_of("{ kind = \"gpu_hosts\", devices = 8 }" + classes) ==
        "1 host of 8 old (8 devices) and 1 host of 4 old and 4 new (8 devices)");
  CHECK(hosts_of("\"star\"" + classes) == "12 old and 4 new");
}

TEST_CASE("plan.hosts limits hosts, and not their devices") {
  const auto limited = [](int most) {
    return "{ kind = \"gpu_hosts\", devices = 8 }\n[[plan.hosts]]\nclass = \"host\"\nmost = " + std::to_string(most);
  };
  CHECK(hosts_of(limited(2)) == "2 hosts of 8 devices (16 devices)");
  CHECK_THROWS_WITH(hosts_of(limited(1)), ContainsSubstring("2 hosts of class host, but plan.hosts has at most 1"));
}

}  // namespace rates_test
