// This machine's speed on a scenario's gradients. No speed is asserted: it is another on every machine.
#include "catch.h"
#include "cli/program.h"
#include "cli/scenario.h"

namespace calibrate_test {

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
  const Called used =
      call("simgrad validate tiny.toml --set 'cluster." + speed.substr(0, speed.find('\n')) + "'", scratch.path());
  INFO(used.err);
  CHECK(used.exit_code == 0);
}

TEST_CASE("calibrate refuses a scenario that computes no numbers") {
  const Scratch scratch;
  scratch.write("tiny.toml", small);
  const Called called =
      call("simgrad calibrate tiny.toml --set training.numbers=false --set stop.steps=3", scratch.path());
  CHECK(called.exit_code == 2);
}

TEST_CASE("calibrate --network prints residuals and a cluster that a scenario can hold") {
  const Scratch scratch;
  // 20 us + n / 500 MB/s for one flow; fifteen at once share 1.125 GB/s, 0.9 of 10 Gb/s.
  scratch.write("m.csv",
                "bytes,seconds,collective,workers\n"
                "1000,22e-6,message,\n1000000,2.02e-3,message,\n1000000,0.013353333333333,flat,16\n");
  const Called called = call("simgrad calibrate --network m.csv --bandwidth 10Gbps", scratch.path());
  INFO(called.err);
  CHECK(called.exit_code == 0);
  CHECK(called.out.ends_with(
      "[cluster]\nlatency = \"20us\"\nbandwidth = \"10Gbps\"\nefficiency = 0.9\nflow_limit = \"4Gbps\"\n"));
  CHECK(called.out.find("relative residuals: 0.00%") != std::string::npos);
  scratch.write("x.toml", called.out +
                              "[data]\nsamples = 20\nfeatures = 2\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = "
                              "1\n[[strategy]]\nkind = \"allreduce\"\n");
  CHECK(call("simgrad validate x.toml", scratch.path()).exit_code == 0);
}

TEST_CASE("calibrate --network refuses bad files, impossible bandwidths and a scenario beside it") {
  const Scratch scratch;
  scratch.write("m.csv", "bytes,seconds\n1000,22e-6\n1000000,2.02e-3\n");
  scratch.write("bad.csv", "bytes,seconds\n1000,soon\n");
  const auto refused = [&](const std::string& arguments) {
    const Called called = call("simgrad calibrate " + arguments, scratch.path());
    CHECK(called.exit_code == 2);
    return called.err;
  };
  CHECK(refused("--network bad.csv").starts_with("bad.csv:2:6: seconds is \"soon\""));
  CHECK(refused("--network m.csv --bandwidth 1Gbps").find("is the bandwidth right?") != std::string::npos);
  CHECK(refused("--network m.csv --bandwidth fast").starts_with("--bandwidth: "));
  CHECK(refused("").find("give a scenario") != std::string::npos);
  refused("x.toml --network m.csv");
}

}  // namespace calibrate_test
