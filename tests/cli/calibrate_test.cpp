// This machine's speed on a scenario's gradients. No speed is asserted: it is another on every machine.
#include "catch.h"
#include "cli/program.h"
#include "cli/scenario.h"

using namespace simgrad::tests;

TEST_CASE("calibrate prints the speed of a worker's gradients as TOML that a scenario can hold") {
  const Scratch scratch;
  scratch.write("tiny.toml", small);
  const Called called = call("simgrad calibrate tiny.toml --seconds 0.05 --set cluster.workers=2", scratch.path());
  INFO(called.out << called.err);
  REQUIRE(called.exit_code == 0);
  CHECK(called.err.empty());
  CHECK(called.out.find("[cluster]\nspeed = \"") != std::string::npos);
  const std::string speed = called.out.substr(called.out.find("speed = "));
  const Called used = call("simgrad validate tiny.toml --set 'cluster." + speed.substr(0, speed.find('\n')) + "'", scratch.path());
  INFO(used.err);
  CHECK(used.exit_code == 0);
}

TEST_CASE("calibrate refuses a scenario that computes no numbers") {
  const Scratch scratch;
  scratch.write("tiny.toml", small);
  const Called called = call("simgrad calibrate tiny.toml --set training.numbers=false --set stop.steps=3", scratch.path());
  CHECK(called.exit_code == 2);
}
