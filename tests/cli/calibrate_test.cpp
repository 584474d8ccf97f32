// This machine's speed on a scenario's gradients. No speed is asserted: it is another on every machine.
#include <fmt/format.h>

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

TEST_CASE("calibrate --network --protocol prints a table that gives the measured times") {
  const Scratch scratch;
  // 10 us and 500 MB/s up to 8 kB, 40 us and 2 GB/s above.
  std::string measured = "bytes,seconds\n";
  for (const double m : {1e3, 2e3, 4e3, 8e3, 64e3, 128e3, 512e3, 4096e3})
    measured += fmt::format("{},{}\n", m, m < 10e3 ? 10e-6 + m / 500e6 : 40e-6 + m / 2e9);
  scratch.write("m.csv", measured);
  const Called called = call("simgrad calibrate --network m.csv --protocol", scratch.path());
  INFO(called.err);
  INFO(called.out);
  REQUIRE(called.exit_code == 0);
  CHECK(contains(called.out, "# a table of 2 rows by the size of messages: root mean square 0.00%, median 0.00%\n"));
  // Two steps of a server are four messages of 64 kB: 72 us each.
  scratch.write("x.toml",
                called.out.substr(called.out.find("[cluster]")) +
                    "workers = 1\nspeed = \"1000PF\"\ncharge_reductions = false\n[data]\nsamples = 20\nfeatures = "
                    "8000\n[model]\nkind = \"least_squares\"\n[training]\nnumbers = false\n[stop]\nsteps = "
                    "2\n[[strategy]]\nkind = \"parameter_server\"\n");
  const Called run = program("run x.toml --no-baseline", scratch);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const std::string digits = results_in(scratch)["runs"][0]["simulated_s"].dump();
  CHECK(std::stod(digits) == Approx(4.0 * 72e-6).epsilon(2e-3));  // four digits are printed
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

constexpr const char* timed =
    "[cluster]\nworkers = 2\nbandwidth = \"1Gbps\"\nlatency = \"50us\"\nspeed = \"5GF\"\n[data]\nsamples = 40\n"
    "features = 1000\n[model]\nkind = \"least_squares\"\n[training]\nnumbers = false\n[stop]\nsteps = 2\n"
    "[[strategy]]\nkind = \"allreduce\"\nalgorithm = \"ring\"\n";

TEST_CASE("calibrate --runs finds the bandwidth and the latency of measured steps, as TOML that a scenario can hold") {
  const Scratch scratch;
  scratch.write("s.toml", timed);
  std::string rows = "# A ring of 3 Gb/s and 20 us.\nworkers,features,family,step_s,note\n";
  for (const int P : {2, 4})
    for (const int d : {1000, 100000}) {
      // 4 d n / (P speed) + 2 (P-1) alpha + 2 (P-1)/P M beta + (P-1)/P d gamma + 2 d / speed
      const double p = P, M = 8.0 * d;
      const double t = 4.0 * d * 40.0 / p / 5e9 + 2 * (p - 1) * 20e-6 + 2 * (p - 1) / p * M / 3.75e8 +
                       (p - 1) / p * d / 5e9 + 2.0 * d / 5e9;
      rows += fmt::format("{},{},ring of {},{},x\n", P, d, P, t);
    }
  rows += "8,1000,ring of 8,,not measured\n";
  scratch.write("m.csv", rows);
  const Called called = call(
      "simgrad calibrate s.toml --runs m.csv --column workers=cluster.workers --column features=data.features --fit "
      "cluster.bandwidth --fit cluster.latency --folds 0",
      scratch.path());
  INFO(called.out << called.err);
  REQUIRE(called.exit_code == 0);
  CHECK(contains(called.out, "# Columns that are not used: note;"));
  CHECK(contains(called.out, "# family ring of 2: 2 rows, median error 0.0%"));
  CHECK(contains(called.out, "# all: 4 rows"));
  CHECK(contains(called.out, "correlation of ranks (Spearman): 1.000"));
  CHECK(contains(called.out, "rows that do not fit within 20%: none"));
  CHECK(contains(called.out, "[cluster]\nbandwidth = \"3Gbps\"\nlatency = \""));
}

TEST_CASE("calibrate --runs names the rows that no value fits") {
  const Scratch scratch;
  scratch.write("s.toml", timed);
  // The step of 4 workers has a third of the rows' work, and is said to take ten times as long.
  scratch.write("m.csv", "cluster.workers,step_s\n1,0.001\n2,0.0005\n4,0.01\n");
  const Called called = call("simgrad calibrate s.toml --runs m.csv --fit cluster.speed --folds 3", scratch.path());
  INFO(called.out << called.err);
  REQUIRE(called.exit_code == 0);
  CHECK(contains(called.out, "line 4 (-"));
  CHECK(contains(called.out, "; out of sample median "));
}

TEST_CASE("calibrate --runs refuses what it cannot fit, with the place") {
  const Scratch scratch;
  scratch.write("s.toml", timed);
  scratch.write("m.csv", "cluster.workers,step_s\n2,0.001\n4,soon\n");
  scratch.write("n.csv", "cluster.workers,seconds\n2,0.001\n");
  scratch.write("w.csv", "cluster.worker,step_s\n2,0.001\n");
  scratch.write("g.csv", "cluster.workers,step_s\n2,0.001\n");
  const auto refused = [&](const std::string& arguments) {
    const Called called = call("simgrad calibrate s.toml " + arguments, scratch.path());
    CHECK(called.exit_code == 2);
    return called.err;
  };
  CHECK(refused("--runs m.csv --fit cluster.speed").starts_with("m.csv:3:3: step_s is \"soon\""));
  CHECK(contains(refused("--runs n.csv --fit cluster.speed"), "n.csv:1:1: there is no column \"step_s\""));
  CHECK(contains(refused("--runs w.csv --fit cluster.speed"), "w.csv:2: "));
  CHECK(contains(refused("--runs g.csv"), "name the options to fit"));
  CHECK(
      contains(refused("--runs g.csv --fit cluster.speeed"), "--fit cluster.speeed: the scenario has no such option"));
  CHECK(contains(refused("--runs g.csv --fit cluster.speed --column a=data.features"), "there is no column \"a\""));
  CHECK(contains(refused("--runs g.csv --fit cluster.speed --fit cluster.latency"), "cannot separate 2 options"));
  CHECK(contains(refused("--fit cluster.speed"), "--runs"));
}

}  // namespace calibrate_test
