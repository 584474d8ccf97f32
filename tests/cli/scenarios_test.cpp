// Several scenarios in one command.
#include <regex>

#include "catch.h"
#include "cli/scenario.h"

namespace scenarios_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// A directory with a.toml and b.toml, which has four workers more.
struct Two : Scratch {
  Two() {
    write("a.toml", small);
    write("b.toml", with(small, "workers = 4", "workers = 8"));
  }
  bool has(const std::string& file) const { return fs::exists(path() + "/" + file); }
};

}  // namespace

TEST_CASE("scenarios that run in one command have the results that each has by itself") {
  const Two together, apart;
  const Called called = program("run a.toml b.toml --no-why", together);
  INFO(called.err);
  CHECK(called.exit_code == 0);
  CHECK(called.out.starts_with("a.toml\n"));
  CHECK(contains(called.out, "\n\nb.toml\n"));
  for (const char* name : {"a", "b"}) {
    const std::string file = std::string("/out/") + name + "/results.json";
    REQUIRE(program(std::string("run --no-why ") + name + ".toml", apart).exit_code == 0);
    const auto timeless = [](const std::string& text) {
      return std::regex_replace(text, std::regex("\"wall_s\": ?[^,\n]*"), "");
    };
    CHECK(timeless(contents(together.path() + file)) == timeless(contents(apart.path() + file)));
  }
}

TEST_CASE("with --out each of several scenarios has a directory in it, and options are for all of them") {
  const Two scratch;
  REQUIRE(program("run a.toml b.toml --no-why --quiet --out DIR --grid cluster.workers=1,2", scratch).exit_code == 0);
  for (const char* name : {"a", "b"}) CHECK(results_in(scratch, std::string("DIR/") + name)["runs"].size() == 2);
  CHECK_FALSE(scratch.has("out"));
}

TEST_CASE("all faults of several scenarios are told, and none of them is run") {
  const Two scratch;
  scratch.write("c.toml", with(small, "workers = 4", "workers = 0"));
  scratch.write("d.toml", with(small, "steps = 10", "steps = -1"));
  for (const char* command : {"run", "validate", "run --dry-run"}) {
    const Called called = program(std::string(command) + " a.toml c.toml d.toml", scratch);
    CHECK(called.exit_code == 2);
    CHECK(called.out.empty());
    const auto lines = lines_of(called.err);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].starts_with("c.toml:5:11: workers must be "));
    CHECK(lines[1].starts_with("d.toml:22:9: steps must be "));
  }
  CHECK_FALSE(scratch.has("out"));
  // A file that is not there is worse than one that is wrong.
  CHECK(program("run a.toml c.toml none.toml", scratch).exit_code == 5);
}

TEST_CASE("data files that do not suit are told before any of several scenarios is run") {
  const Two scratch;
  scratch.write("d.csv", "a,b\n1,x\n2,\n");
  scratch.write("c.toml", with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n",
                               "source = \"csv\"\npath = \"d.csv\"\n"));
  const Called called = program("run a.toml c.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "d.csv:"));
  CHECK_FALSE(scratch.has("out"));
}

TEST_CASE("scenarios whose results would lie in one directory are refused") {
  const Two scratch;
  fs::create_directory(scratch.path() + "/sub");
  scratch.write("sub/a.toml", small);
  for (const char* arguments : {"a.toml sub/a.toml", "a.toml b.toml a.toml"}) {
    const Called called = program(std::string("run ") + arguments, scratch);
    CHECK(called.exit_code == 2);
    CHECK(
        contains(called.err, "a.toml: two scenarios are called \"a\", so their results would overwrite each other in"));
    CHECK_FALSE(scratch.has("out"));
  }
}

TEST_CASE("options that make one file of a command are refused with several scenarios") {
  const Two scratch;
  const Called json = program("run a.toml b.toml --json", scratch);
  CHECK(json.exit_code == 2);
  CHECK(json.err == "--json prints one document, but there are 2 scenarios; run them one after the other\n");
  const Called trace = program("run a.toml b.toml --trace=t.json", scratch);
  CHECK(trace.exit_code == 2);
  CHECK(trace.err == "--trace=t.json is one file, but there are 2 scenarios; write --trace for a file for each run\n");
  CHECK(program("run a.toml b.toml --trace --quiet --no-why", scratch).exit_code == 0);
  CHECK(scratch.has("out/a/trace"));
  CHECK(scratch.has("out/b/trace"));
}

TEST_CASE("the exit code of several scenarios is the worst, and one that fails does not keep the others from running") {
  const Two scratch;
  // Every run of it ends at the watchdog.
  scratch.write("c.toml", small + "[cluster.watchdog]\nsimulated = \"1ns\"\n");
  const Called called = program("run c.toml a.toml --no-why", scratch);
  CHECK(called.exit_code == 1);
  CHECK(results_in(scratch, "out/a")["runs"].size() == 1);
  scratch.write("out/b", "no directory");
  CHECK(program("run b.toml c.toml --no-why", scratch).exit_code == 5);
}

TEST_CASE("several scenarios are validated one after the other") {
  const Two scratch;
  const Called called = program("validate --resolved a.toml b.toml", scratch);
  CHECK(called.exit_code == 0);
  CHECK(called.out == "# a.toml\n" + program("validate --resolved a.toml", scratch).out + "\n# b.toml\n" +
                          program("validate --resolved b.toml", scratch).out);
  const Called brief = program("validate a.toml b.toml", scratch);
  CHECK(brief.exit_code == 0);
  CHECK(brief.out.starts_with("a.toml\nok: 1 run, "));
  CHECK(contains(brief.out, "\n\nb.toml\nok: 1 run, "));
}

TEST_CASE("option --dry-run of several scenarios estimates each, and all of them") {
  const Two scratch;
  const Called called = program("run a.toml b.toml --dry-run --grid cluster.workers=1,2", scratch);
  CHECK(called.exit_code == 0);
  const auto lines = lines_of(called.err);
  REQUIRE(lines.size() == 3);
  const std::string rest = " runs to simulate: about [0-9.]+ (ns|us|ms|s) of real time, and [0-9.]+ kB of files .*";
  CHECK(std::regex_match(lines[0], std::regex("simgrad: a: 3" + rest)));
  CHECK(std::regex_match(lines[1], std::regex("simgrad: b: 3" + rest)));
  CHECK(std::regex_match(lines[2], std::regex("simgrad: 2 scenarios: 6" + rest)));
  CHECK(lines_of(called.out).size() == 9);
}

TEST_CASE("option --dry-run does not count runs that are finished, unless --force does them again") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
  const auto told = [&](const std::string& arguments) {
    return program("run x.toml --dry-run " + arguments, scratch).err;
  };
  CHECK(told("") == "simgrad: 0 runs to simulate; 2 are finished and not done again\n");
  const std::string more = told("--grid cluster.workers=4,5");
  CHECK(more.starts_with("simgrad: 1 run to simulate: about "));
  CHECK(more.ends_with(" in addition to the report; 2 are finished and not done again\n"));
  CHECK(told("--out other").starts_with("simgrad: 2 runs to simulate: about "));
  CHECK(told("--force").starts_with("simgrad: 2 runs to simulate: about "));
  // A record that is not whole is no finished run.
  for (const auto& record : fs::directory_iterator(scratch.path() + "/out/x/runs"))
    if (record.path().extension() == ".json") fs::resize_file(record.path(), 100);
  CHECK(told("").starts_with("simgrad: 2 runs to simulate: about "));
}

TEST_CASE("results of a grid are more of the same experiment, whether its keys are zipped or not") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --quiet --no-why --grid 'zip(cluster.workers=1,2; cluster.latency=1us,2us)'", scratch)
              .exit_code == 0);
  const Called called =
      program("run x.toml --quiet --no-why --grid cluster.workers=1 --grid cluster.latency=1us,3us", scratch);
  INFO(called.err);
  CHECK(called.exit_code == 0);
}

}  // namespace scenarios_test
