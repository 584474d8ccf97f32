// The sentence on what binds: its numbers are those of the changes that were tried.
#include "outputs/finding.h"

#include "catch.h"

namespace finding_test {

using namespace simgrad::outputs;

namespace {

Counterfactual tried(std::vector<Change> changes, bool whole = true) {
  return {.id = "a", .steps = 40, .whole = whole, .simulated_s = 1.0, .samples = 100, .changes = std::move(changes)};
}
Change change(const char* name, double gain) {
  return {.name = name, .sets = {}, .simulated_s = 1.0 / gain, .samples = 100, .gain = gain};
}

}  // namespace

TEST_CASE("the change that brings most binds, and others that bring something stand beside it") {
  CHECK(finding(tried({change("server_speed", 1.9), change("latency", 1.05), change("bandwidth", 1.001)}), "bsp") ==
        "With servers twice as fast bsp would be 1.9x as fast (half the latency: 1.05x): the speed of the servers "
        "binds most.");
  CHECK(finding(tried({change("latency", 1.05), change("failures", 1.5)}, false), "ring") ==
        "With no failures ring would be 1.5x as fast over its first 40 steps (half the latency: 1.05x): the time that "
        "failures take binds most.");
}

TEST_CASE("where no change brings 2 %, none binds") {
  const Counterfactual nothing = tried({change("bandwidth", 1.019), change("latency", 1.0)});
  CHECK(binding(nothing) == nullptr);
  CHECK(finding(nothing, "ring") ==
        "No single change that was tried would make ring 2 % faster: twice the bandwidth and half the latency.");
  CHECK(finding(tried({}), "ring").empty());
}

TEST_CASE("where only failures were looked at, their effect is told, and no cause is said to bind") {
  const Counterfactual failures = tried({change("failures", 1.5)});
  CHECK(finding(failures, "ring") == "With no failures ring would be 1.5x as fast.");
  CHECK(binding(failures) == nullptr);
  CHECK(finding(tried({change("failures", 1.01)}), "ring").empty());
}

TEST_CASE("the cause that binds brings at least 2 %") {
  CHECK(binding(tried({change("bandwidth", 1.02)})));
  CHECK(binding(tried({change("bandwidth", 1.0199)})) == nullptr);
}

}  // namespace finding_test
