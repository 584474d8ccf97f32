// merge: what it refuses, and what it says about runs that are missing.
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

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
  /// The text on stderr of a merge that is refused and leaves nothing.
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

TEST_CASE("merge: a directory stands for the shards in it, also where the whole is in it already") {
  const Shards shards;
  REQUIRE(program("merge out/x/shard-*-of-2 --out merged", shards.scratch).exit_code == 0);
  for (const char* out : {"by_parent", "out/x", "again"}) {
    const Called called = program(fmt::format("merge out/x --out {}", out), shards.scratch);
    INFO(called.err);
    CHECK(called.exit_code == 0);
    CHECK(contents(shards.path(out) + "/runs.csv") == contents(shards.path("merged/runs.csv")));
  }
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

TEST_CASE("merge: a run whose timeline is missing or damaged is missing") {
  const Shards shards;
  const auto timeline = fs::directory_iterator(shards.path("out/x/shard-1-of-2/timelines"))->path();
  std::ofstream(timeline) << "damaged";
  CHECK(contains(shards.refusal(), fs::relative(timeline, shards.scratch.path()).string() + " is damaged\n"));
  // Two grid points have a timeline each, of their first seed.
  for (const int i : {1, 2}) fs::remove_all(shards.path(fmt::format("out/x/shard-{}-of-2/timelines", i)));
  CHECK(contains(shards.refusal(), "missing: simgrad run x.toml"));
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
  const auto options = [](const std::string& first, const std::string& second) {
    return fmt::format("the command had {} in out/x/shard-2-of-2, and {} in other/shard-1-of-2\n", first, second);
  };
  const auto one_more = [](const std::string& option) {
    return fmt::format("the command had {} in other/shard-1-of-2, and not in out/x/shard-2-of-2\n", option);
  };
  CHECK(difference(shards.options + " --set training.learning_rate=0.05") ==
        another + one_more("--set training.learning_rate=0.05"));
  CHECK(difference("--seeds 1..6 --grid cluster.workers=2,4") == another + options("--seeds 1..5", "--seeds 1..6"));
  CHECK(difference("--seeds 1..5 --grid cluster.workers=2,3") ==
        another + options("--grid cluster.workers=2,4", "--grid cluster.workers=2,3"));
  CHECK(difference(shards.options + " --no-baseline") == another + one_more("--no-baseline"));
  CHECK(difference(shards.options + " --strategy allreduce") == another + one_more("--strategy allreduce"));
  fs::create_directories(shards.path("edited"));
  shards.scratch.write("edited/x.toml", with(small, "learning_rate = 0.1", "learning_rate = 0.05"));
  CHECK(difference(shards.options, "edited/x.toml") ==
        another + differ("training.learning_rate", "0.1", "0.05") + "\n");
  shards.scratch.write("y.toml", small);
  CHECK(difference(shards.options, "y.toml") == another + differ("the scenario's name", "\"x\"", "\"y\"") + "\n");
  const std::string file = shards.path("out/x/shard-1-of-2/experiment.json"), good = contents(file);
  std::ofstream(file) << with(good, "\"version\": \"", "\"version\": \"9");
  CHECK(contains(shards.refusal(),
                 "out/x/shard-2-of-2: is a shard of another experiment: the version of simgrad is \"9"));
  std::ofstream(file) << with(good, "\"results\": ", "\"results\": 9");
  CHECK(contains(shards.refusal(), "is a shard of another experiment: results_number is 9"));
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

TEST_CASE("merge: option --all-ranks of the shards is that of the whole") {
  const Shards shards;
  for (const int i : {1, 2}) shards.run(fmt::format("{} --all-ranks --out all --shard {}/2", shards.options, i));
  REQUIRE(program("merge all/shard-1-of-2 all/shard-2-of-2 --out merged", shards.scratch).exit_code == 0);
  shards.run(shards.options + " --all-ranks --out whole");
  CHECK(differing(shards.path("merged"), shards.path("whole")) == "equal");
  CHECK(contains(contents(shards.path("merged/results.json")), "\"all_ranks\": true"));
  const Called strangers = program("merge all/shard-1-of-2 out/x/shard-2-of-2 --out m", shards.scratch);
  CHECK(contains(strangers.err, "the command had --all-ranks in all/shard-1-of-2, and not in out/x/shard-2-of-2"));
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

TEST_CASE("merge: the results of another experiment are kept under another name, and replaced by --force") {
  const Shards shards;
  shards.run("--set training.learning_rate=0.05 --out taken");
  const Called merged = program("merge out/x/shard-*-of-2 --out taken", shards.scratch);
  CHECK(merged.exit_code == 0);
  CHECK(contains(merged.err, "an earlier version in taken are kept in taken.1 (training.learning_rate is 0.05 there"));
  CHECK(results_in(shards.scratch, "taken.1")["scenario"]["training"]["learning_rate"] == 0.05);
  CHECK(results_in(shards.scratch, "taken")["runs"].size() == 10);
  // The shards lie in the directory of the results, by default.
  shards.run("--set training.learning_rate=0.05 --out out/x");
  CHECK(program("merge out/x/shard-*-of-2", shards.scratch).exit_code == 0);
  CHECK(results_in(shards.scratch, "out/x")["runs"].size() == 10);
  CHECK(results_in(shards.scratch, "out/x.1")["scenario"]["training"]["learning_rate"] == 0.05);
  CHECK(fs::exists(shards.path("out/x/shard-1-of-2")));
  shards.run("--set training.learning_rate=0.05 --out forced");
  CHECK(program("merge out/x/shard-*-of-2 --out forced --force", shards.scratch).exit_code == 0);
  CHECK_FALSE(fs::exists(shards.path("forced.1")));
  CHECK(results_in(shards.scratch, "forced")["runs"].size() == 10);
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

TEST_CASE("report on a shard, or on shards that are not merged, names the command that merges them") {
  const Shards shards;
  const std::string merge = "simgrad merge out/x/shard-*-of-2 --out out/x";
  for (const char* directory : {"out/x/shard-1-of-2", "out/x/shard-1-of-2/"}) {
    const Called shard = program(std::string("report ") + directory, shards.scratch);
    CHECK(shard.exit_code == 5);
    CHECK(shard.err == std::string(directory) +
                           ": is shard 1/2 of an experiment, and has no results by itself; merge all shards: " + merge +
                           "\n");
  }
  const Called whole = program("report out/x", shards.scratch);
  CHECK(whole.exit_code == 5);
  CHECK(whole.err ==
        "out/x: has shards of an experiment, and results only when all of them are merged: " + merge + "\n");
  CHECK(contains(call("cd out/x/shard-2-of-2 && simgrad report .", shards.scratch.path()).err,
                 ".: is shard 2/2 of an experiment, and has no results by itself; merge all shards: simgrad merge "
                 "../shard-*-of-2 --out .."));
  REQUIRE(call(merge, shards.scratch.path()).exit_code == 0);
  CHECK(program("report out/x", shards.scratch).err.find("shard") == std::string::npos);
}

TEST_CASE("merge: records that it leaves as they are get a second name, and others a file of their own") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  for (const auto& [options, linked] : {std::pair{"--no-baseline", true}, std::pair{"", false}}) {
    // Four runs and one baseline of all of them: records in the shard without it lack their speed-ups.
    const std::string selection =
        fmt::format("x.toml --no-why --quiet {} --seeds 1 --grid cluster.workers=2,3,4,5", options);
    const std::string out = scratch.path() + "/" + (linked ? "linked" : "mixed");
    for (const int i : {1, 2})
      REQUIRE(program(fmt::format("run {} --out {} --shard {}/2", selection, out, i), scratch).exit_code == 0);
    const auto before = results_below(out + "/shard-1-of-2"), before_2 = results_below(out + "/shard-2-of-2");
    for (int k = 0; k < 2; ++k)  // a second time over links
      REQUIRE(program(fmt::format("merge {0}/shard-1-of-2 {0}/shard-2-of-2 --no-why --quiet --out {0}", out), scratch)
                  .exit_code == 0);
    int links = 0, files = 0;
    for (const char* folder : {"runs", "timelines", "trajectories"}) {
      if (!fs::exists(out + "/" + folder)) continue;
      for (const auto& entry : fs::directory_iterator(out + "/" + folder)) {
        ++(fs::hard_link_count(entry.path()) > 1 ? links : files);
        CHECK(entry.path().extension() != ".tmp");
      }
    }
    INFO(links << " links, " << files << " files");
    CHECK(links > 0);
    CHECK((files == 0) == linked);
    CHECK(results_below(out + "/shard-1-of-2") == before);
    CHECK(results_below(out + "/shard-2-of-2") == before_2);
    REQUIRE(program(fmt::format("run {} --out {}-whole", selection, out), scratch).exit_code == 0);
    CHECK(differing(out, out + "-whole") == "equal");
  }
}

TEST_CASE("merge: brings the numbers that runs share") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const std::string selection = "x.toml --no-why --no-baseline --grid cluster.bandwidth=1Gbps,2Gbps,4Gbps,8Gbps";
  for (const int i : {1, 2})
    REQUIRE(program(fmt::format("run {} --quiet --out out --shard {}/2", selection, i), scratch).exit_code == 0);
  std::set<std::string> keys, merged;
  for (const int i : {1, 2})
    for (const auto& entry : fs::directory_iterator(scratch.path() + fmt::format("/out/shard-{}-of-2/trajectories", i)))
      keys.insert(entry.path().filename());
  REQUIRE_FALSE(keys.empty());
  REQUIRE(program("merge out/shard-1-of-2 out/shard-2-of-2 --no-why --out out", scratch).exit_code == 0);
  for (const auto& entry : fs::directory_iterator(scratch.path() + "/out/trajectories"))
    merged.insert(entry.path().filename());
  CHECK(merged == keys);
  const Called more = program("run " + selection + ",16Gbps --out out", scratch);
  CHECK(more.exit_code == 0);
  CHECK_FALSE(contains(more.err, "is not whole"));
}

TEST_CASE("merge: a timeline that a machine's death has left empty is that of a missing run") {
  const Shards shards;
  std::string shard;  // of one of the two timelines
  for (const char* each : {"1", "2"})
    for (const auto& entry : fs::directory_iterator(shards.path(fmt::format("out/x/shard-{}-of-2/timelines", each)))) {
      if (shard.empty()) std::ofstream(entry.path(), std::ios::trunc);
      shard = each;
    }
  CHECK(contains(shards.refusal(), "runs is missing: "));
}

}  // namespace merge_test
