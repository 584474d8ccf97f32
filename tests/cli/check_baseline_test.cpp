// check --update and check --baseline: both verdicts, the gate, every refusal.
#include <algorithm>

#include "catch.h"
#include "cli/scenario.h"

namespace check_baseline_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const std::string grid = "[grid]\n\"cluster.workers\" = [2, 4]\n";

Called check(const Scratch& scratch, const std::string& arguments) {
  return program("check --quiet " + arguments, scratch);
}

/// A scenario and its stored baseline.
struct Stored {
  Scratch scratch;
  explicit Stored(const std::string& text = small + grid) {
    scratch.write("x.toml", text);
    REQUIRE(check(scratch, "x.toml --update b.toml").exit_code == 0);
  }
  std::string text() const { return contents(scratch.path() + "/b.toml"); }
  /// Multiplies the first number of the metric among the runs.
  void change(const std::string& metric, double factor) const {
    const std::string all = text(), before = "\n" + metric + " = ";
    const auto from = all.find(before, all.find("[[run]]")) + before.size();
    const auto to = all.find('\n', from);
    char number[40];
    std::snprintf(number, sizeof number, "%.17g", std::stod(all.substr(from, to - from)) * factor);
    scratch.write("b.toml", all.substr(0, from) + number + all.substr(to));
  }
  void replace(const std::string& from, const std::string& to) const {
    scratch.write("b.toml", with(text(), from, to));
  }
};

}  // namespace

TEST_CASE("what was stored is found again, the same bits, whatever --jobs") {
  const Stored stored;
  for (const char* jobs : {"1", "2"}) {
    const Called called = check(stored.scratch, std::string("x.toml --baseline b.toml --exact --jobs ") + jobs);
    CHECK(called.exit_code == 0);
    CHECK(called.out == "x.toml\n1 scenario: 0 expectations ok, 0 failed; stored baseline b.toml: the same bits\n");
  }
  const std::string before = stored.text();
  REQUIRE(check(stored.scratch, "x.toml --update b.toml --jobs 1").exit_code == 0);
  CHECK(stored.text() == before);
}

TEST_CASE("check does all runs again, whatever an earlier one has kept") {
  const Stored stored;
  for (int i = 0; i < 2; ++i) {
    const Called called = program("check x.toml --baseline b.toml --out kept", stored.scratch);
    CHECK(called.exit_code == 0);
    CHECK_FALSE(contains(called.err, "already"));
  }
  CHECK(results_in(stored.scratch, "kept/x")["complete"] == true);
}

TEST_CASE("a change beyond the tolerance ends check with 3 and a table, the worst first") {
  const Stored stored;
  stored.change("simulated_s", 1.25);
  stored.change("bytes", 2.0);
  stored.change("final_loss", 1.0 + 1e-9);
  const Called called = check(stored.scratch, "x.toml --baseline b.toml --junit found.xml");
  CHECK(called.exit_code == 3);
  const auto lines = lines_of(called.out);
  REQUIRE(lines.size() == 6);
  CHECK(lines[1].starts_with("  FAILED    the stored baseline b.toml: 2 runs, "));
  CHECK(lines[1].ends_with(" values: 2 values are beyond the tolerance, 1 more differs within it"));
  CHECK(lines[2].starts_with("            run                           metric       stored"));
  // Half as many, and a fifth less.
  CHECK(contains(lines[3], "allreduce, workers=2, seed 1  bytes"));
  CHECK(lines[3].ends_with("  -50 %   0.1 %"));
  CHECK(contains(lines[4], "simulated_s"));
  CHECK(lines[4].ends_with("  -20 %   0.1 %"));
  CHECK(lines[5] == "1 scenario: 0 expectations ok, 0 failed; stored baseline b.toml: differences in 1 of 1 scenarios");
  const std::string xml = contents(stored.scratch.path() + "/found.xml");
  CHECK(contains(xml, "failures=\"1\""));
  CHECK(contains(xml, "name=\"the stored baseline b.toml\">\n      <failure message=\"2 runs, "));
}

TEST_CASE("a change within the tolerance passes, and is no longer the same bits: --exact fails") {
  const Stored stored;
  stored.change("simulated_s", 1.0 + 1e-12);
  const Called called = check(stored.scratch, "x.toml --baseline b.toml");
  CHECK(called.exit_code == 0);
  CHECK(contains(called.out, "stored baseline b.toml: within the tolerance\n"));
  const Called exact = check(stored.scratch, "x.toml --baseline b.toml --exact");
  CHECK(exact.exit_code == 3);
  CHECK(contains(exact.out, "1 value differs within the tolerance, and --exact allows none\n"));
  CHECK(contains(exact.out, "allreduce, workers=2, seed 1  simulated_s"));
}

TEST_CASE("a tolerance is a user's to edit, and is kept by --update") {
  const Stored stored;
  stored.change("simulated_s", 1.25);
  stored.replace("\nsimulated_s = 0.001\n", "\nsimulated_s = 0.19\n");  // the change is -20 %
  CHECK(check(stored.scratch, "x.toml --baseline b.toml").exit_code == 3);
  stored.replace("\nsimulated_s = 0.19\n", "\nsimulated_s = 0.21\n");
  stored.replace("\nbytes = 0.001\n", "\n");
  CHECK(check(stored.scratch, "x.toml --baseline b.toml").exit_code == 0);
  CHECK(check(stored.scratch, "x.toml --update b.toml --force").exit_code == 0);
  CHECK(contains(stored.text(), "\nsimulated_s = 0.21\n"));
  CHECK_FALSE(contains(stored.text(), "\nbytes = 0.001\n"));
}

TEST_CASE("check --update does not replace values of the same runs without --force, and says what would change") {
  const Stored stored;
  stored.change("final_loss", 1.0 + 1e-12);
  const std::string before = stored.text();
  const Called refused = check(stored.scratch, "x.toml --update b.toml");
  CHECK(refused.exit_code == 3);
  CHECK(stored.text() == before);
  CHECK(contains(refused.out,
                 "  FAILED    the stored baseline b.toml: 1 value of the same runs would change, though "
                 "results_number is still "));
  CHECK(contains(refused.out, "allreduce, workers=2, seed 1  final_loss"));
  CHECK(contains(refused.out, "; b.toml not written\n"));
  CHECK(contains(refused.err, "b.toml: left as it was"));
  const Called forced = program("check x.toml --update b.toml --force", stored.scratch);
  CHECK(forced.exit_code == 0);
  CHECK(contains(forced.out, "2 runs to store, 1 value replaced by --force\n"));
  CHECK(check(stored.scratch, "x.toml --baseline b.toml --exact").exit_code == 0);
}

TEST_CASE("a new results_number lets --update rewrite exact values") {
  const Stored stored;
  stored.change("final_loss", 2.0);
  stored.replace("\nresults_number = ", "\nresults_number = 1000");
  const Called compared = check(stored.scratch, "x.toml --baseline b.toml");
  CHECK(compared.exit_code == 3);
  CHECK(contains(compared.out, "; the stored runs are of results_number 1000"));
  CHECK(check(stored.scratch, "x.toml --update b.toml").exit_code == 0);
  CHECK(check(stored.scratch, "x.toml --baseline b.toml --exact").exit_code == 0);
}

TEST_CASE("several scenarios share a file, and one of them leaves the others as they are") {
  const Stored stored;
  stored.scratch.write("y.toml", small);
  stored.scratch.write("a.toml", small);
  REQUIRE(check(stored.scratch, "y.toml a.toml --update b.toml").exit_code == 0);
  const auto lines = lines_of(stored.text());
  std::vector<std::string> names;
  std::ranges::copy_if(lines, std::back_inserter(names), [](const auto& line) { return line.starts_with("name = "); });
  CHECK(names == std::vector<std::string>{"name = \"a\"", "name = \"x\"", "name = \"y\""});
  for (const char* jobs : {"1", "2"}) {
    const Called called = check(stored.scratch, std::string("y.toml x.toml a.toml --baseline b.toml --jobs ") + jobs);
    CHECK(called.out ==
          "y.toml\nx.toml\na.toml\n3 scenarios: 0 expectations ok, 0 failed; stored baseline b.toml: the same bits\n");
  }
  fs::create_directory(stored.scratch.path() + "/z");
  stored.scratch.write("z/x.toml", small);
  const Called twice = check(stored.scratch, "x.toml z/x.toml --baseline b.toml");
  CHECK(twice.exit_code == 2);
  CHECK(contains(twice.err, "z/x.toml: two scenarios are called \"x\""));
}

TEST_CASE("stored runs that are gone fail, new ones are told") {
  const Stored stored;
  const Called fewer = check(stored.scratch, "x.toml --baseline b.toml --set cluster.workers=2");
  CHECK(fewer.exit_code == 2);  // without a grid no run has the place of a stored one
  stored.scratch.write("x.toml", small + with(grid, "4]", "8]"));
  const Called other = check(stored.scratch, "x.toml --baseline b.toml");
  CHECK(other.exit_code == 3);
  CHECK(contains(other.out,
                 "1 stored run is not there any more; a new run is not stored: allreduce, workers=8, seed 1\n"));
  stored.scratch.write("x.toml", small + with(grid, "4]", "4, 8]"));
  const Called more = program("check x.toml --baseline b.toml", stored.scratch);
  CHECK(more.exit_code == 0);
  CHECK(contains(more.out, "the same bits; a new run is not stored: allreduce, workers=8, seed 1\n"));
}

TEST_CASE("a baseline of another scenario is refused before anything runs") {
  const Stored stored;
  stored.scratch.write("y.toml", small);
  const Called unknown = check(stored.scratch, "y.toml --baseline b.toml --out kept");
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.err ==
        "b.toml:1:1: the stored baseline is of another scenario than y.toml: it has x; \"simgrad check y.toml --update "
        "b.toml\" adds this one\n");
  CHECK_FALSE(fs::exists(stored.scratch.path() + "/kept"));
  const Called seeds = check(stored.scratch, "x.toml --baseline b.toml --seeds 7");
  CHECK(seeds.exit_code == 2);
  CHECK(contains(seeds.err, "no run of \"x\" has the same label, grid point and seed"));
}

TEST_CASE("the keys that have changed since the runs were stored are named, with both values") {
  const std::string second = "[[strategy]]\nkind = \"local_sgd\"\nlabel = \"one\"\n";
  const Stored stored(small + second + grid);
  const auto refused = [&](const std::string& options) {
    const Called called = check(stored.scratch, "x.toml --baseline b.toml " + options);
    CHECK(called.exit_code == 2);
    INFO(called.err);
    const std::string begin = "the stored baseline is of another scenario than x.toml: ";
    const auto from = called.err.find(begin), to = called.err.find("; \"--update b.toml\" stores the new runs\n");
    REQUIRE(to != std::string::npos);
    return called.err.substr(from + begin.size(), to - from - begin.size());
  };
  const std::string first = ", which changes the run allreduce, workers=2, seed 1";
  CHECK(refused("--set training.learning_rate=0.2") == "training.learning_rate was 0.1 and is 0.2" + first);
  CHECK(refused("--set cluster.latency=1ms --set 'cluster.bandwidth=\"2Gbps\"'") ==
        "cluster.bandwidth was \"1Gbps\" and is \"2Gbps\", cluster.latency was \"50us\" and is \"1ms\"" + first);
  CHECK(refused("--set model.l2=0.5") == "model.l2 was absent and is 0.5" + first);  // the scenario does not write it
  // Another strategy's options say nothing about the run, and those of the grid are its point.
  CHECK(refused("--set strategy.one.slow_rate=0.5") ==
        "strategy.one.slow_rate was 1.0 and is 0.5, which changes the run one, workers=2, seed 1");
  CHECK(check(stored.scratch, "x.toml --baseline b.toml --set title=other").exit_code == 0);
  // A file of an older release has no keys.
  const std::string all = stored.text();
  const auto keys = all.find("\n[scenario.keys]\n");
  stored.scratch.write("b.toml", all.substr(0, keys) + all.substr(all.find("\n[[run]]\n")));
  CHECK(refused("--set training.learning_rate=0.2").starts_with("the run allreduce, workers=2, seed 1 had the id "));
}

TEST_CASE("where no key has changed, a file has") {
  const std::string file =
      with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n", "source = \"csv\"\npath = \"d.csv\"\n");
  const Scratch scratch;
  scratch.write("x.toml", file);
  std::string rows = "a,y\n";
  for (int k = 0; k < 40; ++k) rows += std::to_string(k * k % 17) + "," + std::to_string(k) + "\n";
  scratch.write("d.csv", rows);
  REQUIRE(check(scratch, "x.toml --update b.toml").exit_code == 0);
  REQUIRE(check(scratch, "x.toml --baseline b.toml").exit_code == 0);
  scratch.write("d.csv", rows + "1,1\n");
  const Called called = check(scratch, "x.toml --baseline b.toml");
  CHECK(called.exit_code == 2);
  CHECK(contains(
      called.err,
      ": no key that the scenario writes has changed, and the run allreduce, seed 1 has another id: probably a "
      "file that the scenario names has other contents; "));
}

TEST_CASE("the ids of another release may differ, and its runs are compared") {
  const Stored stored;
  stored.replace("\nversion = \"", "\nversion = \"9.");
  const Called called = check(stored.scratch, "x.toml --baseline b.toml --set cluster.latency=51us");
  CHECK(called.exit_code == 3);
  CHECK(contains(called.out, "allreduce, workers=2, seed 1  simulated_s"));
}

TEST_CASE("a stored baseline that is missing, damaged or no baseline is refused before anything runs") {
  const Stored stored;
  CHECK(check(stored.scratch, "x.toml --baseline missing.toml").exit_code == 5);
  const std::string whole = stored.text();
  stored.scratch.write("b.toml", whole.substr(0, whole.size() / 2));
  for (const char* option : {"--baseline", "--update"}) {
    const Called called = check(stored.scratch, std::string("x.toml --out kept ") + option + " b.toml");
    CHECK(called.exit_code == 2);
    CHECK(contains(called.err, "b.toml:"));
  }
  CHECK(stored.text() == whole.substr(0, whole.size() / 2));
  const Called scenario = check(stored.scratch, "x.toml --update x.toml");
  CHECK(scenario.exit_code == 2);
  CHECK(contains(scenario.err, "x.toml:1:1: found no \"format\""));
  CHECK(check(stored.scratch, "x.toml --out kept --update nowhere/b.toml").exit_code == 5);
  CHECK_FALSE(fs::exists(stored.scratch.path() + "/kept"));
}

TEST_CASE("nothing is stored if a run fails or a scenario cannot be run") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  scratch.write("y.toml", with(small, "workers = 4", "workers = 0"));
  CHECK(check(scratch, "x.toml --update b.toml --set cluster.watchdog.simulated=1ns").exit_code == 1);
  CHECK(check(scratch, "x.toml y.toml --update b.toml").exit_code == 2);
  CHECK_FALSE(fs::exists(scratch.path() + "/b.toml"));
}

TEST_CASE("options of the stored baseline that mean nothing by themselves are refused, all at once") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = check(scratch, "x.toml --exact --force");
  CHECK(called.exit_code == 2);
  CHECK(called.err ==
        "--exact says how runs are compared with a stored baseline; add --baseline FILE\n"
        "--force lets --update replace exact values; add --update FILE\n");
  CHECK(check(scratch, "x.toml --baseline b.toml --update b.toml").exit_code == 2);
}

}  // namespace check_baseline_test
