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
        "is the main bottleneck.");
  CHECK(finding(tried({change("latency", 1.05), change("failures", 1.5)}, false), "ring") ==
        "With no failures ring would be 1.5x as fast over its first 40 steps (half the latency: 1.05x): the time that "
        "failures take is the main bottleneck.");
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
  CHECK(finding(failures, "ring") == "With no failures ring would process 1.5x as many samples a second.");
  CHECK(binding(failures) == nullptr);
  CHECK(finding(tried({change("failures", 1.01)}), "ring").empty());
}

TEST_CASE("the cause that binds brings at least 2 %") {
  CHECK(binding(tried({change("bandwidth", 1.02)})));
  CHECK(binding(tried({change("bandwidth", 1.0199)})) == nullptr);
}

TEST_CASE("changes whose gains are shown as one number limit it equally, and none of them is named alone") {
  const Counterfactual alike = tried({change("bandwidth", 1.21), change("latency", 1.19), change("worker_speed", 1.1)});
  CHECK(all_binding(alike).size() == 2);  // 1.2x and 1.2x
  CHECK(finding(alike, "ring") ==
        "With twice the bandwidth or half the latency ring would be 1.2x as fast (workers twice as fast: 1.1x): the "
        "bandwidth of the links and the latency of the links limit it about equally.");
  CHECK(all_binding(tried({change("bandwidth", 1.26), change("latency", 1.19)})).size() == 1);
}

TEST_CASE("a change that makes a run notably slower is told") {
  CHECK(finding(tried({change("bandwidth", 1.5), change("latency", 0.97)}), "ring") ==
        "With twice the bandwidth ring would be 1.5x as fast: the bandwidth of the links is the main bottleneck. With "
        "half the "
        "latency ring would be 3 % slower.");
  CHECK(finding(tried({change("bandwidth", 1.0), change("latency", 0.9)}), "ring")
            .ends_with("twice the bandwidth and half the latency. With half the latency ring would be 10 % slower."));
  CHECK(slowing(tried({change("bandwidth", 1.5), change("latency", 0.99)})) == nullptr);
}

TEST_CASE("of an asynchronous run gains within 5 % may be other orders of updates, and bind nothing") {
  Counterfactual stale = tried({change("bandwidth", 1.049), change("latency", 0.96)});
  CHECK(binding(stale));
  stale.asynchronous = true;
  CHECK(binding(stale) == nullptr);
  CHECK(slowing(stale) == nullptr);
  CHECK(finding(stale, "asp").starts_with("No single change that was tried would make asp 5 % faster: "));
}

}  // namespace finding_test
