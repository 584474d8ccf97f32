// `check`: what it prints and writes, its exit codes, its refusals.
#include <regex>

#include "catch.h"
#include "cli/scenario.h"

namespace check_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const std::string grid = "[grid]\n\"cluster.workers\" = [2, 4]\n";

std::string expects(const std::string& bound, const std::string& metric = "steps") {
  return "[[expect]]\nstrategy = \"allreduce\"\nmetric = \"" + metric + "\"\n" + bound + "\n";
}

Called check(const Scratch& scratch, const std::string& arguments) { return program("check " + arguments, scratch); }

}  // namespace

TEST_CASE("check prints a line an expectation and grid point, and ends with 0 if all hold") {
  const Scratch scratch;
  scratch.write("x.toml", small + grid + expects("equals = 10") +
                              expects("at_least = 4\nwhere = {\"cluster.workers\" = 4}", "workers"));
  const Called called = check(scratch, "x.toml");
  CHECK(called.out ==
        "x.toml\n"
        "  ok        allreduce: steps 10, workers=2: found 10\n"
        "  ok        allreduce: steps 10, workers=4: found 10\n"
        "  ok        allreduce: workers at least 4, workers=4: found 4\n"
        "1 scenario: 3 expectations ok, 0 failed\n");
  CHECK(called.exit_code == 0);
}

TEST_CASE("check ends with 3 if one expectation fails, and writes what was found as JUnit") {
  const Scratch scratch;
  scratch.write("x.toml", small + grid + expects("equals = 10") + expects("at_most = 9"));
  const Called called = check(scratch, "x.toml --junit found.xml --set stop.steps=10");
  CHECK(called.exit_code == 3);
  CHECK(called.out ==
        "x.toml\n"
        "  ok        allreduce: steps 10, workers=2: found 10\n"
        "  ok        allreduce: steps 10, workers=4: found 10\n"
        "  FAILED    allreduce: steps at most 9, workers=2: found 10\n"
        "  FAILED    allreduce: steps at most 9, workers=4: found 10\n"
        "1 scenario: 2 expectations ok, 2 failed\n");
  const std::string xml = contents(scratch.path() + "/found.xml");
  CHECK(contains(xml, "<testsuite name=\"x.toml\" tests=\"4\" failures=\"2\" errors=\"0\" skipped=\"0\">"));
  CHECK(
      std::regex_search(xml, std::regex("<testcase classname=\"x.toml\" name=\"allreduce: steps at most 9, workers=4\" "
                                        "time=\"[0-9.]+\">\n      <failure message=\"found 10\"/>")));
  CHECK(std::regex_search(xml, std::regex("name=\"allreduce: steps 10, workers=2\" time=\"[0-9.]+\">\n"
                                          "      <system-out>found 10</system-out>")));
  CHECK_FALSE(fs::exists(scratch.path() + "/out"));  // results are not kept
}

TEST_CASE("check takes several scenarios, keeps their results on request, and says which expect nothing") {
  const Scratch scratch;
  scratch.write("x.toml", small + expects("equals = 10"));
  scratch.write("y.toml", small);
  const Called called = check(scratch, "x.toml y.toml --out kept --quiet");
  CHECK(called.exit_code == 0);
  CHECK(called.out ==
        "x.toml\ny.toml\n  it has no [[expect]]: nothing to test\n2 scenarios: 1 expectation ok, 0 failed; 1 scenario "
        "without [[expect]], so not tested\n");
  CHECK(fs::exists(scratch.path() + "/kept/x/results.json"));
  CHECK(fs::exists(scratch.path() + "/kept/y/results.json"));
}

TEST_CASE("check reads all scenarios before it runs one, and tells all faults at once") {
  const Scratch scratch;
  scratch.write("x.toml", small + expects("equals = 10", "stps"));
  scratch.write("y.toml", with(small, "workers = 4", "workers = 0"));
  const Called called = check(scratch, "x.toml y.toml --out kept");
  CHECK(called.exit_code == 2);
  CHECK(called.out.empty());
  const auto lines = lines_of(called.err);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].starts_with("x.toml:28:1: a run has no number \"stps\"; did you mean \"steps\"?"));
  CHECK(lines[1].starts_with("y.toml:5:11: workers must be"));
  CHECK_FALSE(fs::exists(scratch.path() + "/kept"));
}

TEST_CASE("a scenario that cannot be run is an error of the JUnit file, and the others are checked all the same") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "workers = 4", "workers = 0"));
  scratch.write("y.toml", small + expects("equals = 10"));
  const std::string file =
      with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5", "source = \"csv\"\npath = \"d.csv\"");
  scratch.write("z.toml", file + expects("equals = 10"));
  scratch.write("d.csv", "a,b\n1,2\n3,x\n4,5\n");
  const Called called = check(scratch, "x.toml y.toml z.toml missing.toml --junit found.xml --quiet");
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "x.toml:5:11: workers must be from 1 to "));
  CHECK(contains(called.err, "d.csv:3: column \"b\" holds \"x\""));
  CHECK(contains(called.err, "missing.toml: cannot be opened"));
  CHECK(called.out == "y.toml\n1 scenario: 1 expectation ok, 0 failed; 3 scenarios could not be run\n");
  const std::string xml = contents(scratch.path() + "/found.xml");
  CHECK(contains(xml, "<testsuites tests=\"4\" failures=\"0\" errors=\"3\" skipped=\"0\">"));
  CHECK(contains(xml,
                 "<testcase classname=\"x.toml\" name=\"the scenario can be run\">\n      <error message=\"x.toml:5"));
  CHECK(check(scratch, "missing.toml --quiet").exit_code == 5);
}

TEST_CASE("results that cannot be written are an error of the JUnit file, and the other scenarios are checked") {
  const Scratch scratch;
  for (const char* name : {"x.toml", "y.toml"}) scratch.write(name, small + expects("equals = 10"));
  fs::create_directory(scratch.path() + "/kept");
  scratch.write("kept/x", "");  // a file where the directory should be
  const Called called = check(scratch, "x.toml y.toml --quiet --out kept --junit found.xml");
  CHECK(called.exit_code == 5);
  const std::string xml = contents(scratch.path() + "/found.xml");
  CHECK(contains(xml, "<testsuites tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"0\">"));
  CHECK(contains(xml, "name=\"the scenario can be run\">\n      <error message=\"kept/x"));
}

TEST_CASE("a scenario without expectations is skipped in the JUnit file") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  CHECK(check(scratch, "x.toml --quiet --junit found.xml").exit_code == 0);
  CHECK(contains(contents(scratch.path() + "/found.xml"),
                 "name=\"[[expect]]\">\n      <skipped message=\"the scenario has none, so nothing was tested\"/>"));
}

TEST_CASE("an expectation can be relative to another strategy, or to another grid point") {
  const Scratch scratch;
  const std::string two = "[[strategy]]\nkind = \"single\"\n";
  const auto expectation = [](const std::string& text) { return "[[expect]]\nmetric = \"workers\"\n" + text; };
  scratch.write("x.toml", small + two + grid +
                              expectation("strategy = \"allreduce\"\nrelative_to = \"single\"\nequals = 2\n"
                                          "where = { \"cluster.workers\" = 2 }\n") +
                              expectation("strategy = \"allreduce\"\nwhere = { \"cluster.workers\" = 4 }\n"
                                          "relative_where = { \"cluster.workers\" = 2 }\nat_most = 1.5\n"));
  const Called called = check(scratch, "x.toml");
  CHECK(called.exit_code == 3);
  CHECK(contains(called.out, "  ok        allreduce: workers 2 x that of single, workers=2: found 2 (2 / 1)\n"));
  CHECK(
      contains(called.out,
               "  FAILED    allreduce: workers at most 1.5 x that of cluster.workers=2, workers=4: found 2 (4 / 2)\n"));
  const Called without = check(scratch, "x.toml --set cluster.workers=4 --quiet");
  CHECK(contains(without.out, "2 untested"));
}

TEST_CASE("two scenarios of one name are refused where both would be kept") {
  const Scratch scratch;
  fs::create_directory(scratch.path() + "/a");
  scratch.write("x.toml", small);
  scratch.write("a/x.toml", small);
  CHECK(check(scratch, "x.toml a/x.toml --quiet").exit_code == 0);
  const Called called = check(scratch, "x.toml a/x.toml --out kept");
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "a/x.toml: two scenarios are called \"x\""));
}

TEST_CASE("check prints runs that fail, with or without expectations, and ends with 1 or 4") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  scratch.write("y.toml",
                small + "[grid]\n\"cluster.watchdog.simulated\" = [\"1ns\", \"100s\"]\n" + expects("equals = 10"));
  const Called all = check(scratch, "x.toml --set cluster.watchdog.simulated=1ns --junit found.xml");
  CHECK(all.exit_code == 1);
  CHECK(contains(all.out, "  FAILED    allreduce, seed 1: "));
  CHECK(contains(all.out, "; 1 of 1 runs failed; 1 scenario without [[expect]]"));
  CHECK(contains(contents(scratch.path() + "/found.xml"), "name=\"allreduce, seed 1\" time=\""));
  CHECK(contains(contents(scratch.path() + "/found.xml"), "\n      <error message=\""));
  const Called some = check(scratch, "y.toml --quiet");
  CHECK(some.exit_code == 4);
  CAPTURE(some.out);
  CHECK(contains(some.out, "  FAILED    allreduce: steps 10, simulated=1ns: the run failed: "));
  CHECK(contains(some.out, "1 scenario: 1 expectation ok, 1 failed; 1 of 2 runs failed\n"));
}

TEST_CASE(
    "an expectation whose grid point the command line takes away is untested, and a scenario of such ends with 2") {
  const Scratch scratch;
  scratch.write("x.toml", small + grid + expects("equals = 10\nwhere = {\"cluster.workers\" = 4}"));
  const Called called = check(scratch, "x.toml --set cluster.workers=2");
  CHECK(called.exit_code == 2);
  CHECK(contains(
      called.err,
      "x.toml: none of its expectations was tested: they are about grid points that are not run; leave --set out"));
  scratch.write("y.toml", small + grid + expects("equals = 10"));
  CHECK(check(scratch, "y.toml x.toml --set cluster.workers=2 --quiet").exit_code == 2);
  scratch.write("y.toml",
                small + grid + expects("equals = 10") + expects("equals = 10\nwhere = {\"cluster.workers\" = 4}"));
  CHECK(check(scratch, "y.toml --set cluster.workers=2 --quiet").exit_code == 0);
  CHECK(called.out ==
        "x.toml\n  untested  allreduce: steps 10, workers=4: the command line leaves no such grid point\n"
        "1 scenario: 0 expectations ok, 0 failed, 1 untested\n");
}

TEST_CASE("the seeds of check are those that an expectation is a mean over") {
  const Scratch scratch;
  scratch.write("x.toml", small + expects("equals = 2", "seed"));
  CHECK(check(scratch, "x.toml --quiet --seeds 1..3").exit_code == 0);
  CHECK(check(scratch, "x.toml --quiet").exit_code == 3);
}

TEST_CASE("a place where the JUnit file cannot be written ends check with 5, before anything runs") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  scratch.write("file", "");
  CHECK(check(scratch, "x.toml --quiet --out kept --junit file/found.xml").exit_code == 5);
  CHECK_FALSE(fs::exists(scratch.path() + "/kept"));
}

TEST_CASE("run takes no notice of expectations") {
  const Scratch scratch;
  scratch.write("x.toml", small + expects("at_least = 1e9"));
  CHECK(program("run x.toml --quiet", scratch).exit_code == 0);
}

}  // namespace check_test
