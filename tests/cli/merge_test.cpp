// merge: what it refuses, and what it says about runs that are missing.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "base/hash.h"
#include "catch.h"
#include "cli/sharded.h"

namespace merge_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// A directory with both shards of ten runs, and their baselines, in out/x.
struct Shards {
  Scratch scratch;
  std::string options = "--seeds 1..5 --grid cluster.workers=2,4";

  Shards() {
    scratch.write("x.toml", small);
    for (const int i : {1, 2}) run(fmt::format("{} --shard {}/2", options, i));
  }
  void run(const std::string& arguments, const std::string& file = "x.toml") const {
    const Called called = program(fmt::format("run {} --quiet {}", file, arguments), scratch);
    INFO(called.err);
    REQUIRE(called.exit_code == 0);
  }
  /// What is said on stderr by a merge that is refused and leaves nothing.
  std::string refusal(const std::string& directories = "out/x/shard-*-of-2", int exit_code = 2) const {
    const Called called = program("merge " + directories + " --out merged", scratch);
    CHECK(called.exit_code == exit_code);
    CHECK(called.out.empty());
    CHECK_FALSE(fs::exists(scratch.path() + "/merged"));
    return called.err;
  }
  std::string path(const std::string& name) const { return scratch.path() + "/" + name; }
  /// The files of records in a shard, in the order of their names.
  std::vector<std::string> records(int shard) const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(path(fmt::format("out/x/shard-{}-of-2/runs", shard))))
      files.push_back(entry.path().string());
    std::ranges::sort(files);
    return files;
  }
};

}  // namespace

TEST_CASE("merge: a missing shard, and missing runs, are named with the command that does them") {
  const Shards shards;
  const std::string command = "simgrad run x.toml --grid cluster.workers=2,4 --seeds 1..5 --shard ";
  CHECK(shards.refusal("out/x/shard-2-of-2") == "shard 1/2: 7 of 7 runs are missing: " + command + "1/2 --out out/x\n");
  fs::remove(shards.records(2).front());
  CHECK(shards.refusal() == "shard 2/2: 1 of 8 runs is missing: " + command + "2/2 --out out/x\n");
  CHECK(shards.refusal("./out/x//shard-1-of-2/ out/x/shard-2-of-2/") ==
        "shard 2/2: 1 of 8 runs is missing: " + command + "2/2 --out out/x\n");
  const std::string line = shards.refusal();
  REQUIRE(call(line.substr(line.find("simgrad")), shards.scratch.path()).exit_code == 0);
  CHECK(program("merge out/x/shard-*-of-2 --out merged", shards.scratch).exit_code == 0);
}

TEST_CASE("merge: of many missing shards a few are named") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --seeds 1..40 --shard 7/30 --quiet", scratch).exit_code == 0);
  const Called called = program("merge out/x/shard-7-of-30", scratch);
  CHECK(called.exit_code == 2);
  const auto lines = lines_of(called.err);
  REQUIRE(lines.size() == 11);
  CHECK(contains(lines[0], "simgrad run x.toml --seeds 1..40 --shard 1/30 --out out/x"));
  CHECK(lines[10] == "... and 19 more shards with missing runs");
}

TEST_CASE("merge: a damaged record is named, counts as missing, and stays where it is") {
  const Shards shards;
  const std::string file = shards.records(1).front();
  std::string text = contents(file);
  for (const auto& [damaged, fault] : std::vector<std::pair<std::string, std::string>>{
           {text.substr(0, 100), "is no whole record"},
           {with(text, "\"samples\":2000", "\"samples\":2001"), "does not have the contents of its checksum"},
           {contents(shards.records(1).back()), "does not have the contents of its checksum"}}) {
    INFO(fault);
    std::ofstream(file) << damaged;
    const std::string said = shards.refusal();
    CHECK(contains(said, fs::relative(file, shards.scratch.path()).string() + " " + fault + "\n"));
    CHECK(contains(said, "shard 1/2: 1 of 7 runs is missing: "));
    CHECK(contents(file) == damaged);
  }
}

TEST_CASE("merge: a run without its timeline is missing") {
  const Shards shards;
  fs::remove_all(shards.path("out/x/shard-1-of-2/timelines"));
  CHECK(contains(shards.refusal(), "runs are missing: simgrad run x.toml"));
}

TEST_CASE("merge: directories that are no shards are refused, all in one pass") {
  const Shards shards;
  shards.run("--out whole");
  fs::create_directories(shards.path("empty"));
  shards.scratch.write("file", "");
  fs::create_directories(shards.path("odd"));
  for (const auto& [text, found] : std::vector<std::pair<std::string, std::string>>{
           {"{\"shard\":{}}", "found an experiment.json without the members of a shard's"},
           {"{\"shard\":", "odd/experiment.json:1:10: not JSON, or cut short"},
           {"[]", "found the results of a whole experiment"}}) {
    shards.scratch.write("odd/experiment.json", text);
    const auto lines = lines_of(shards.refusal("nowhere empty file out/x/shard-1-of-2 whole odd"));
    const std::string expected = ", expected the directory of a shard, which `simgrad run --shard i/n` writes";
    REQUIRE(lines.size() == 5);
    CHECK(lines[0] == "nowhere: found no directory" + expected);
    CHECK(lines[1] == "empty: found no experiment.json" + expected);
    CHECK(lines[2] == "file: found no directory" + expected);
    CHECK(lines[3] == "whole: found the results of a whole experiment" + expected);
    CHECK(lines[4].starts_with("odd: " + found));
  }
}

TEST_CASE("merge: shards of other scenarios, selections, versions and numbers are refused with the difference") {
  const Shards shards;
  const auto difference = [&](const std::string& options, const std::string& file = "x.toml") {
    fs::remove_all(shards.path("other"));
    shards.run(options + " --shard 1/2 --out other", file);
    return shards.refusal("out/x/shard-2-of-2 other/shard-1-of-2");
  };
  const std::string another = "other/shard-1-of-2: is a shard of another experiment: ";
  const auto differ = [](const std::string& key, const std::string& first, const std::string& second) {
    return fmt::format("{} is {} in out/x/shard-2-of-2 and {} in other/shard-1-of-2", key, first, second);
  };
  CHECK(difference(shards.options + " --set training.learning_rate=0.05")
            .starts_with(another + differ("scenario.training.learning_rate", "0.1", "0.05")));
  CHECK(difference("--seeds 1..6 --grid cluster.workers=2,4") ==
        another + differ("selection.seeds", "\"1..5\"", "\"1..6\"") + "\n");
  CHECK(contains(difference("--seeds 1..5 --grid cluster.workers=2,3"),
                 differ("selection.grid.0", "\"cluster.workers=2,4\"", "\"cluster.workers=2,3\"")));
  CHECK(difference(shards.options + " --no-baseline") ==
        another + differ("selection.baselines", "true", "false") + "\n");
  CHECK(difference(shards.options + " --strategy allreduce") ==
        another + differ("selection.strategy", "[]", "absent") + ", " +
            differ("selection.strategy.0", "absent", "\"allreduce\"") + "\n");
  shards.scratch.write("y.toml", small);
  CHECK(difference(shards.options, "y.toml") == another + differ("name", "\"x\"", "\"y\"") + "\n");
  const std::string file = shards.path("out/x/shard-1-of-2/experiment.json"), good = contents(file);
  std::ofstream(file) << with(good, "\"version\": \"", "\"version\": \"9");
  CHECK(contains(shards.refusal(), "out/x/shard-2-of-2: is a shard of another experiment: version is \"9"));
  std::ofstream(file) << with(good, "\"results\": ", "\"results\": 9");
  CHECK(contains(shards.refusal(), "is a shard of another experiment: numerics is 9"));
  std::ofstream(file) << good;
  shards.run(shards.options + " --shard 3/3");
  CHECK(shards.refusal("out/x/shard-1-of-2 out/x/shard-3-of-3") ==
        "out/x/shard-1-of-2 is shard 1/2 and out/x/shard-3-of-3 is shard 3/3: the numbers of shards differ\n");
}

TEST_CASE("merge: a shard that is there twice counts once if its runs are equal") {
  const Shards shards;
  fs::copy(shards.path("out/x/shard-1-of-2"), shards.path("copy"), fs::copy_options::recursive);
  CHECK(program("merge out/x/shard-*-of-2 copy --out twice", shards.scratch).exit_code == 0);
  shards.run(shards.options + " --shard 1/2 --out again");  // other real times
  CHECK(program("merge out/x/shard-*-of-2 again/shard-1-of-2 --out thrice", shards.scratch).exit_code == 0);
  CHECK(differing(shards.path("twice"), shards.path("thrice")) == "equal");
}

TEST_CASE("merge: a run whose two records are whole and differ is refused") {
  const Shards shards;
  fs::copy(shards.path("out/x/shard-1-of-2"), shards.path("copy"), fs::copy_options::recursive);
  const std::string name = "/runs/" + fs::path(shards.records(1).front()).filename().string();
  std::string text = contents(shards.path("copy" + name));
  text = with(text.substr(0, text.find(",\"checksum\"")), "\"samples\":2000", "\"samples\":2001");
  const std::string bare = std::regex_replace(text, std::regex(R"re(("wall_s":)[^,}]*)re"), "$1") + "}";
  std::ofstream(shards.path("copy" + name)) << text << R"(,"checksum":")" << simgrad::base::hash(bare) << R"("})";
  CHECK(shards.refusal("out/x/shard-*-of-2 copy") ==
        "copy" + name + ": differs from out/x/shard-1-of-2" + name + "; expected equal records of one run\n");
}

TEST_CASE("merge: of a run that failed in one shard and not in another, the one that did not counts") {
  const Shards shards;
  const Called failed =
      program("run x.toml " + shards.options + " --shard 1/2 --run-memory 1kB --out failed", shards.scratch);
  REQUIRE(failed.exit_code == 4);
  const std::string sound = "out/x/shard-1-of-2", other = "failed/shard-1-of-2", rest = " out/x/shard-2-of-2";
  // A run that was stopped by force has left no timeline, and is not missing.
  CHECK(program("merge " + other + rest + " --out alone --no-why", shards.scratch).exit_code == 4);
  for (const std::string& order : {sound + " " + other, other + " " + sound}) {
    CHECK(program("merge " + order + rest + " --out merged --force", shards.scratch).exit_code == 0);
    CHECK(program("merge out/x/shard-*-of-2 --out without --force", shards.scratch).exit_code == 0);
    CHECK(differing(shards.path("merged"), shards.path("without")) == "equal");
  }
}

TEST_CASE("merge: option --force replaces damaged timelines") {
  const Shards shards;
  REQUIRE(program("merge out/x/shard-*-of-2 --out merged", shards.scratch).exit_code == 0);
  REQUIRE(program("merge out/x/shard-*-of-2 --out again", shards.scratch).exit_code == 0);
  for (const auto& entry : fs::directory_iterator(shards.path("again/timelines"))) {
    fs::remove(entry.path());  // it may be a link to the shard's
    std::ofstream(entry.path()) << "damaged";
  }
  REQUIRE(program("merge out/x/shard-*-of-2 --out again --force", shards.scratch).exit_code == 0);
  CHECK(differing(shards.path("merged"), shards.path("again")) == "equal");
}

TEST_CASE("merge: shards with other contents of a data file are refused") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n",
                               "source = \"csv\"\npath = \"d.csv\"\n"));
  for (const int i : {1, 2}) {
    scratch.write("d.csv", fmt::format("a,b\n1,{}\n2,3\n3,5\n4,6\n", i));
    REQUIRE(program(fmt::format("run x.toml --seeds 1..4 --quiet --shard {}/2", i), scratch).exit_code == 0);
  }
  const Called called = program("merge out/x/shard-*-of-2", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(
      called.err,
      "out/x/shard-2-of-2: is a shard of another experiment: the contents of the data or platform files differ "
      "in out/x/shard-1-of-2 and out/x/shard-2-of-2\n"));
}

TEST_CASE("merge: a scenario that has changed since, or is not there, is refused") {
  const Shards shards;
  shards.scratch.write("x.toml", with(small, "0.1", "0.2"));
  CHECK(shards.refusal() ==
        "x.toml: plans other runs than the shards have: training.learning_rate is 0.1 in out/x/shard-1-of-2 and 0.2 in "
        "x.toml; expected the scenario and its files as they were\n");
  fs::remove(shards.path("x.toml"));
  CHECK(contains(shards.refusal("out/x/shard-*-of-2", 5), "x.toml: cannot be opened, neither here nor in "));
}

TEST_CASE("merge: finds the scenario from another directory, and after both have moved together") {
  const Shards shards;
  fs::create_directories(shards.path("elsewhere"));
  CHECK(call("cd elsewhere && simgrad merge ../out/x/shard-*-of-2 --out m", shards.scratch.path()).exit_code == 0);
  fs::create_directories(shards.path("moved"));
  fs::rename(shards.path("x.toml"), shards.path("moved/x.toml"));
  fs::rename(shards.path("out"), shards.path("moved/out"));
  CHECK(program("merge moved/out/x/shard-*-of-2 --out m", shards.scratch).exit_code == 0);
  CHECK(differing(shards.path("m"), shards.path("elsewhere/m")) == "equal");
}

TEST_CASE("merge: the results of another experiment are refused, and replaced by --force") {
  const Shards shards;
  shards.run("--set training.learning_rate=0.05 --out taken");
  const Called refused = program("merge out/x/shard-*-of-2 --out taken", shards.scratch);
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "taken: has the results of another experiment: training.learning_rate is 0.05 there"));
  CHECK(program("merge out/x/shard-*-of-2 --out taken --force", shards.scratch).exit_code == 0);
  CHECK(results_in(shards.scratch, "taken")["runs"].size() == 10);
}

TEST_CASE("merge: --no-why leaves the counterfactuals out, as run does, and the default directory is run's") {
  const Shards shards;
  shards.run(shards.options + " --no-why --out whole");
  const Called called = program("merge out/x/shard-*-of-2 --no-why", shards.scratch);
  CHECK(called.exit_code == 0);
  CHECK(contains(called.out, "10 runs from 2 shards.\nResults: out/x/results.json, "));
  CHECK(differing(shards.path("out/x"), shards.path("whole")) == "equal");
  CHECK_FALSE(results_in(shards.scratch).contains("counterfactuals"));
  CHECK(program("merge out/x/shard-*-of-2 --quiet", shards.scratch).out.empty());
  CHECK(results_in(shards.scratch).contains("counterfactuals"));
}

TEST_CASE("more than 1000 runs have no counterfactuals, and run and merge say so") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "steps = 10", "steps = 1"));
  const std::string remark = "simgrad: 1001 runs are more than 1000: nothing is tried that would make them faster\n";
  const std::string run = "simgrad run x.toml --no-baseline --seeds 1..1001 ";
  REQUIRE(call(run + "--shard 1/1", scratch.path()).exit_code == 0);
  CHECK(program("merge out/x/shard-1-of-1", scratch).err == remark);
  CHECK_FALSE(results_in(scratch).contains("counterfactuals"));
  CHECK(contains(call(run, scratch.path()).err, remark));
  CHECK_FALSE(results_in(scratch).contains("counterfactuals"));
}

}  // namespace merge_test
