// The forms in which `check` tells its findings: vacuous cases, TAP, GitHub's annotations and summary.
#include <fmt/format.h>

#include <algorithm>

#include "catch.h"
#include "cli/scenario.h"

namespace check_forms_test {

using namespace simgrad::tests;

namespace {

/// Four expectations: one holds, one fails, one is vacuous, one untested.
const std::string four =
    small + "[grid]\n\"cluster.workers\" = [2, 4]\n" + "[[expect]]\nmetric = \"steps\"\nequals = 10\n" +
    "[[expect]]\nmetric = \"steps\"\nat_most = 9\n" + "[[expect]]\nmetric = \"steps\"\nat_least = 0\n" +
    "[[expect]]\nmetric = \"steps\"\nequals = 10\nwhere = { \"cluster.workers\" = 4 }\n";

const std::string at_two = "check x.toml --set cluster.workers=2";

}  // namespace

TEST_CASE("a vacuous expectation is told and counted, and fails with --no-vacuous alone") {
  const Scratch scratch;
  scratch.write("x.toml", small + "[[expect]]\nmetric = \"steps\"\nat_least = 0\n");
  const Called called = program("check x.toml --junit found.xml", scratch);
  CHECK(called.exit_code == 0);
  CHECK(called.out ==
        "x.toml\n"
        "  vacuous   allreduce: steps at least 0: found 10; it could not have failed: no value of steps is below 0\n"
        "1 scenario: 0 expectations ok, 0 failed, 1 vacuous\n");
  CHECK(contains(contents(scratch.path() + "/found.xml"), "<skipped message=\"vacuous: found 10; it could not have "));
  const Called strict = program("check x.toml --no-vacuous", scratch);
  CHECK(strict.exit_code == 3);
  CHECK(contains(strict.out, "  FAILED    allreduce: steps at least 0: found 10; it could not have failed: "));
}

TEST_CASE("expectations of a scenario with failures or stragglers that do not happen are vacuous") {
  const Scratch scratch;
  const std::string expect = "[[expect]]\nmetric = \"steps\"\nequals = 10\n";
  scratch.write("x.toml", with(small, "[data]",
                               "[cluster.failures]\nhosts = { kind = \"exponential\", mtbf = \"1000h\" }\n"
                               "repair = { kind = \"constant\", time = \"1s\" }\n[data]") +
                              expect);
  const Called failures = program("check x.toml", scratch);
  CAPTURE(failures.err);
  CHECK(contains(failures.out,
                 "found 10; it could not have failed: the scenario lets hosts fail, and no host failed in "
                 "the run\n"));
  scratch.write("y.toml",
                with(small, "[data]", "stragglers = { kind = \"bimodal\", probability = 0.0 }\n[data]") + expect);
  CHECK(contains(program("check y.toml", scratch).out,
                 "found 10; it could not have failed: the scenario has stragglers, and nothing was slowed down in the "
                 "run\n"));
  scratch.write("z.toml", with(small, "[data]", "stragglers = { kind = \"constant\" }\n[data]") + expect);
  CHECK(contains(program("check z.toml", scratch).out, "1 expectation ok, 0 failed\n"));
}

TEST_CASE("better_than is tested over the seeds of the command line") {
  const Scratch scratch;
  const std::string slower = "[[strategy]]\nkind = \"mapreduce\"\n";
  scratch.write("x.toml", small + slower + "[[expect]]\nstrategy = \"allreduce\"\nmetric = \"simulated_s\"\n" +
                              "better_than = \"mapreduce\"\n");
  const Called one = program("check x.toml", scratch);
  CHECK(one.exit_code == 3);
  CHECK(contains(one.out,
                 "allreduce: simulated_s better than mapreduce: one seed in common with mapreduce cannot show "
                 "which is better"));
  const Called several = program("check x.toml --seeds 1..3", scratch);
  CAPTURE(several.out);
  CHECK(several.exit_code == (contains(several.out, "worse by") ? 3 : 0));
  CHECK(contains(several.out, " in the mean over 3 seeds"));
}

TEST_CASE("check --tap prints TAP and nothing else on stdout") {
  const Scratch scratch;
  scratch.write("x.toml", four);
  const Called called = program(at_two + " --tap", scratch);
  CHECK(called.exit_code == 3);
  CHECK(called.out == R"(TAP version 13
ok 1 - x.toml: allreduce: steps 10
  ---
  message: "found 10"
  severity: comment
  ...
not ok 2 - x.toml: allreduce: steps at most 9
  ---
  message: "found 10"
  severity: fail
  at:
    file: "x.toml"
    line: 31
    column: 1
  ...
ok 3 - x.toml: allreduce: steps at least 0)"
                      " # SKIP vacuous: found 10; it could not have failed: no value of steps is below 0"
                      R"(
ok 4 - x.toml: steps 10, workers=4 # SKIP the command line leaves no such grid point
1..4
)");
}

TEST_CASE("Perl's reader of TAP finds the points, the failure and the skips, and no fault of form") {
  const Scratch scratch;
  if (call("perl -MTAP::Parser -e 1", scratch.path()).exit_code != 0) {
    WARN("skipped: Perl's TAP::Parser is not installed");
    return;
  }
  scratch.write("x.toml", four);
  program(at_two + " --tap > found.tap", scratch);
  const Called read = call(
      "perl -MTAP::Parser -e '$p = TAP::Parser->new({source => \"found.tap\"}); $p->run; "
      "print join \" \", $p->tests_planned, $p->tests_run, scalar $p->failed, scalar $p->skipped, $p->parse_errors'",
      scratch.path());
  CHECK(read.out == "4 4 1 2");
}

TEST_CASE("a scenario that cannot be run, and one that expects nothing, are points of TAP, too") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "workers = 4", "workers = 0"));
  scratch.write("y.toml", small);
  const Called called = program("check x.toml y.toml --tap", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.out,
                 "not ok 1 - x.toml: the scenario can be run\n  ---\n  message: \"x.toml:5:11: workers must"));
  CHECK(called.out.ends_with("ok 2 - y.toml: [[expect]] # SKIP the scenario has none, so nothing was tested\n1..2\n"));
}

TEST_CASE("on GitHub failures are annotated at their [[expect]], and the summary is appended") {
  const Scratch scratch;
  scratch.write("x.toml", four);
  scratch.write("summary.md", "before\n");
  const std::string github = "GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary.md simgrad ";
  const Called called = call(github + at_two + " --quiet", scratch.path());
  CHECK(called.exit_code == 3);
  CHECK(called.out.ends_with(
      "1 scenario: 1 expectation ok, 1 failed, 1 vacuous, 1 untested\n"
      "::error file=x.toml,line=31,col=1::allreduce: steps at most 9: found 10\n"
      "::warning file=x.toml,line=34,col=1::vacuous: allreduce: steps at least 0: found 10; it could not have failed: "
      "no "
      "value of steps is below 0\n"
      "::warning file=x.toml,line=37,col=1::untested: steps 10, workers=4: the command line leaves no such "
      "grid point\n"));
  CHECK(contents(scratch.path() + "/summary.md") == R"(before
### simgrad check: failed

1 scenario: 1 expectation ok, 1 failed, 1 vacuous, 1 untested

|  | scenario | test | found |
|---|---|---|---|
| failed | x.toml | allreduce: steps at most 9 | found 10 |
| vacuous | x.toml | allreduce: steps at least 0 | found 10; it could not have failed: no value of steps is below 0 |
| untested | x.toml | steps 10, workers=4 | the command line leaves no such grid point |
)");
  const Called tap = call(github + at_two + " --tap", scratch.path());
  CHECK_FALSE(contains(tap.out, "::error"));
  CHECK_FALSE(contains(program(at_two, scratch).out, "::error"));
}

TEST_CASE("on GitHub a fault of a scenario and a changed value are annotated at their lines") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "workers = 4", "workers = 0"));
  scratch.write("y.toml", small);
  REQUIRE(program("check y.toml --update b.toml --quiet", scratch).exit_code == 0);
  const std::string stored = with(contents(scratch.path() + "/b.toml"), "\nsteps = 10\n", "\nsteps = 8\n");
  scratch.write("b.toml", stored);
  const auto line = 2 + std::ranges::count(stored.substr(0, stored.find("\n[[run]]\n")), '\n');
  const Called called = call("GITHUB_ACTIONS=true simgrad check x.toml --quiet", scratch.path());
  CHECK(called.exit_code == 2);
  CHECK(called.out.starts_with("::error file=x.toml,line=5,col=11::x.toml:5:11: workers must be"));
  const Called changed = call("GITHUB_ACTIONS=true simgrad check y.toml --quiet --baseline b.toml", scratch.path());
  CHECK(changed.exit_code == 3);
  CHECK(contains(changed.out,
                 fmt::format("::error file=b.toml,line={},col=1::allreduce, seed 1: steps was 8 and is 10 (+25 %25, "
                             "tolerance 0.1 %25)\n",
                             line)));
}

TEST_CASE("a stored baseline that cannot be used is an error in every form") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  scratch.write("y.toml", small);
  REQUIRE(program("check y.toml --update stored.toml --quiet", scratch).exit_code == 0);
  scratch.write("cut.toml", contents(scratch.path() + "/stored.toml").substr(0, 300));
  struct Case {
    std::string baseline, fault, place;
    int exit_code;
  };
  for (const auto& [baseline, fault, place, exit_code] : std::vector<Case>{
           {"none.toml", "none.toml: cannot be opened: No such file or directory", "file=none.toml", 5},
           {"stored.toml", "stored.toml:1:1: the stored baseline is of another scenario than x.toml: it has y; ",
            "file=stored.toml,line=1,col=1", 2},
           {"cut.toml", "cut.toml:1:1: the file has been cut short: its last table, [end], is missing",
            "file=cut.toml,line=1,col=1", 2}}) {
    CAPTURE(baseline);
    const std::string check = "check x.toml --out kept --baseline " + baseline;
    const Called tap = program(check + " --tap --junit found.xml", scratch);
    CHECK(tap.exit_code == exit_code);
    CHECK(tap.err.starts_with(fault));
    CHECK(tap.out.starts_with("TAP version 13\nnot ok 1 - " + baseline +
                              ": the stored baseline can be used\n  ---\n  message: \"" + fault.substr(0, 60)));
    CHECK(tap.out.ends_with("  ...\nBail out! no scenario is run, because the stored baseline " + baseline +
                            " cannot be used\n"));
    const std::string junit = contents(scratch.path() + "/found.xml");
    CHECK(contains(junit, "<testsuites tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">"));
    CHECK(contains(junit, "<testcase classname=\"" + baseline +
                              "\" name=\"the stored baseline can be used\">\n      <error message=\"" + fault));
    const Called github =
        call("GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=" + baseline + ".md simgrad " + check, scratch.path());
    CHECK(github.exit_code == exit_code);
    CHECK(github.out.starts_with("::error " + place + "::" + fault));
    const std::string summary = contents(scratch.path() + "/" + baseline + ".md");
    CHECK(summary.starts_with("### simgrad check: failed\n\nno scenario is run, because the stored baseline "));
    CHECK(contains(summary, "| the stored baseline can be used | " + baseline));
    const Called plain = program(check, scratch);
    CHECK(plain.out.empty());
  }
  CHECK_FALSE(std::filesystem::exists(scratch.path() + "/kept"));
}

TEST_CASE("beside a stored baseline that cannot be used, scenarios that are refused are told, too") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "bandwidth", "bandwith"));
  scratch.write("y.toml", small);
  for (const char* option : {"--baseline none.toml", "--update nowhere/b.toml"}) {
    const Called called = program(std::string("check x.toml y.toml --tap ") + option, scratch);
    CHECK(called.exit_code == 5);
    CHECK(contains(called.out,
                   "not ok 1 - x.toml: the scenario can be run\n  ---\n  message: \"x.toml:7:1: unknown key"));
    CHECK(contains(called.out, "  at:\n    file: \"x.toml\"\n    line: 7\n    column: 1\n"));
    CHECK(contains(called.out, "not ok 2 - "));
    CHECK(contains(called.out, "\nBail out! "));
    CHECK_FALSE(contains(called.out, "y.toml"));
  }
}

}  // namespace check_forms_test
