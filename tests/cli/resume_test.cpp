// A repeated command does only what is missing, and a results directory keeps one experiment.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "base/directory_lock.h"
#include "catch.h"
#include "cli/process.h"
#include "cli/scenario.h"
#include "run_files.h"
#include "unpacked.h"

namespace resume_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// All files below the directory, by their path in it.
std::map<std::string, std::string> files_below(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), directory)] = contents(entry.path());
  return files;
}

std::string record_of(const Scratch& scratch, std::size_t run) {
  return file_of_run(scratch.path() + "/out/x/runs", results_in(scratch)["runs"][run]["id"], ".json");
}

const std::string sweep = "run x.toml --seeds 1..3 --no-why";

}  // namespace

TEST_CASE("resume: a repeated command takes every run from the directory, and leaves the same files to the byte") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const auto first = files_below(scratch.path() + "/out/x");
  const Called again = program(sweep, scratch);
  CHECK(again.exit_code == 0);
  CHECK(contains(again.err, "simgrad: 6 of 6 runs are in out/x already; --force does them again\n"));
  CHECK(files_below(scratch.path() + "/out/x") == first);  // wall_s too: nothing was simulated
  CHECK(program(sweep + " --quiet", scratch).err.empty());
}

TEST_CASE("resume: files of results that were removed, cut off or edited are written again, and no others") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const std::string command = sweep + " --sqlite --quiet", out = scratch.path() + "/out/x/";
  REQUIRE(program(command, scratch).exit_code == 0);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(out))
    if (entry.is_regular_file()) names.push_back(entry.path().filename());
  CHECK(names.size() >= 8);  // eight without Node, nine with report.html
  const auto numbers = [&] {
    std::map<std::string, ino_t> all;
    for (const std::string& name : names) {
      struct stat file = {};
      all[name] = stat((out + name).c_str(), &file) == 0 ? file.st_ino : 0;
    }
    return all;
  };
  const bool has_attributes = getxattr((out + "results.json").c_str(), "user.simgrad.made_of", nullptr, 0) > 0;
  for (const std::string& name : names) {
    if (name == "experiment.json") continue;
    INFO(name);
    const std::string whole = contents(out + name);
    std::string edited = whole;
    edited[whole.size() / 2] ^= 1;
    const std::string& other = contents(out + (name == "runs.csv" ? "ranks.csv" : "runs.csv"));
    for (const std::string& text : {edited, whole.substr(0, whole.size() / 2), std::string(), other}) {
      const auto before = numbers();
      scratch.write("out/x/" + name, text);
      REQUIRE(program(command, scratch).exit_code == 0);
      CHECK(contents(out + name) == whole);
      for (const auto& [file, number] : numbers())
        if (has_attributes) CHECK((number == before.at(file)) == (file != name));
    }
    fs::remove(out + name);
    REQUIRE(program(command, scratch).exit_code == 0);
    CHECK(contents(out + name) == whole);
  }
}

TEST_CASE("resume: a page is written again for another language and another timeline, tables for other real times") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const std::string out = scratch.path() + "/out/x/";
  REQUIRE(program(sweep, scratch).exit_code == 0);
  if (!fs::exists(out + "report.html")) return;  // built without Node
  const std::string english = contents(out + "report.html");
  REQUIRE(program(sweep + " --language zh", scratch).exit_code == 0);
  const std::string chinese = contents(out + "report.html");
  CHECK(chinese != english);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  CHECK(contents(out + "report.html") == english);
  for (const auto& entry : fs::directory_iterator(out + "timelines")) {
    std::string text = unpacked(entry.path());
    const auto at = text.find("\"to_s\": ") + 8;
    text.replace(at, text.find(',', at) - at, "12345");
    std::ofstream(entry.path()) << text;  // a file that is not packed is read as it is
  }
  REQUIRE(program(sweep, scratch).exit_code == 0);
  CHECK(contents(out + "report.html") != english);
  const std::string runs = contents(out + "runs.csv");
  REQUIRE(program(sweep + " --force", scratch).exit_code == 0);
  CHECK(contents(out + "report.html") == english);
  CHECK(contents(out + "runs.csv") != runs);  // wall_s
}

TEST_CASE("resume: more seeds, grid points and strategies are the same experiment, and only they are done") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --seeds 1 --no-why", scratch).exit_code == 0);
  CHECK(
      contains(program("run x.toml --seeds 1..2 --no-why", scratch).err, "simgrad: 2 of 4 runs are in out/x already"));
  CHECK(contains(program("run x.toml --grid cluster.workers=2,4 --no-why", scratch).err, " runs are in out/x already"));
  scratch.write("x.toml", small + "[[strategy]]\nkind = \"gossip\"\n");
  CHECK(contains(program("run x.toml --no-why", scratch).err, "simgrad: 2 of 3 runs are in out/x already"));
  CHECK(results_in(scratch)["runs"].size() == 2);
}

TEST_CASE("resume: other prices are other bills of the same simulation, which --no-baseline leaves out of nothing") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --no-baseline --no-why", scratch).exit_code == 0);
  CHECK(results_in(scratch)["runs"][0]["efficiency"].is_null());
  CHECK(contains(program("run x.toml --no-why", scratch).err, "simgrad: 1 of 2 runs are in out/x already"));
  CHECK(results_in(scratch)["runs"][0]["efficiency"].is_number());
  CHECK(Json::parse(contents(record_of(scratch, 0)))["efficiency"].is_number());
}

TEST_CASE("resume: --force does all again, and replaces the results of another experiment") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const Called forced = program(sweep + " --force --set training.learning_rate=0.05", scratch);
  CHECK(forced.exit_code == 0);
  CHECK_FALSE(contains(forced.err, "already"));
  CHECK(results_in(scratch)["scenario"]["training"]["learning_rate"] == 0.05);
}

TEST_CASE("resume: --force over another experiment removes that one's files, and nobody else's") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep + " --trace --events --sqlite", scratch).exit_code == 0);
  const std::string other = " --set training.learning_rate=0.05";
  REQUIRE(program(sweep + other + " --out out/y", scratch).exit_code == 0);
  for (const char* file : {"notes.txt", "runs/0123456789abcdef.bak", "runs/mine.json", "trace/README"})
    scratch.write(std::string("out/x/") + file, "a user's");
  const std::string record = "runs/0123456789abcdef.json";
  scratch.write("out/x/" + record, "{\"id\":\"0123456789abcdef\",\"strategy\":\"of the other experiment\"}");
  REQUIRE(program(sweep + other + " --force", scratch).exit_code == 0);
  std::vector<std::string> forced, fresh;
  for (const auto& [name, text] : files_below(scratch.path() + "/out/x")) forced.push_back(name);
  for (const auto& [name, text] : files_below(scratch.path() + "/out/y")) fresh.push_back(name);
  for (const char* file : {"notes.txt", "runs/0123456789abcdef.bak", "runs/mine.json", "trace/README"}) {
    CHECK(std::erase(forced, file) == 1);
    CHECK(contents(scratch.path() + "/out/x/" + file) == "a user's");
  }
  CHECK(forced == fresh);
}

TEST_CASE("resume: --force for the same experiment keeps records of other seeds") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const std::string record = record_of(scratch, 2);
  REQUIRE(program("run x.toml --seeds 1 --no-why --force", scratch).exit_code == 0);
  CHECK(fs::exists(record));
}

TEST_CASE("resume: the results of an earlier version are kept under the next number, and the differences named") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const auto before = files_below(scratch.path() + "/out/x");
  scratch.write("out/x/notes.txt", "a user's");
  for (const char* name : {"x.7", "x.old", "x.99999999999"}) fs::create_directories(scratch.path() + "/out/" + name);
  const std::string changed = " --set training.learning_rate=0.05 --set cluster.bandwidth=2Gbps";
  const Called other = program(sweep + changed + " --quiet", scratch);
  CHECK(other.exit_code == 0);
  CHECK(contains(other.err,
                 "simgrad: the results of an earlier version in out/x are kept in out/x.8 (cluster.bandwidth is "
                 "\"1Gbps\" there and \"2Gbps\" here, training.learning_rate is 0.1 there and 0.05 here)\n"));
  CHECK_FALSE(contains(other.err, "already"));
  CHECK(files_below(scratch.path() + "/out/x.8") == before);
  CHECK(results_in(scratch)["scenario"]["training"]["learning_rate"] == 0.05);
  CHECK(contents(scratch.path() + "/out/x/notes.txt") == "a user's");
  CHECK(program("report out/x.8", scratch).exit_code == 0);
  // Other contents of a file are another experiment, too.
  const std::string of_file = "run d.toml --quiet";
  scratch.write("d.toml", with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n",
                               "source = \"csv\"\npath = \"d.csv\"\n"));
  for (const char* cells : {"1,2", "1,3"}) {
    scratch.write("d.csv", fmt::format("a,b\n{}\n2,3\n3,5\n4,6\n", cells));
    const Called done = program(of_file, scratch);
    CHECK(done.exit_code == 0);
    CHECK(contains(done.err,
                   "an earlier version in out/d are kept in out/d.1 (a file that it names has other contents)") ==
          (cells == std::string("1,3")));
  }
  // Given again, the command goes on where it is.
  CHECK(contains(program(sweep + changed, scratch).err, "6 of 6 runs are in out/x already"));
  // A trailing slash, and a directory behind a link.
  fs::create_symlink("out", scratch.path() + "/link");
  CHECK(program(sweep + " --out link/x/", scratch).exit_code == 0);
  CHECK(fs::exists(scratch.path() + "/out/x.9/results.json"));
}

TEST_CASE(
    "resume: an earlier version without results leaves nothing behind, and a working directory stays where it is") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const std::string other = sweep + " --set training.learning_rate=0.05";
  // Such a directory is left by a command that was interrupted before its first run was finished.
  const std::string written = contents(scratch.path() + "/out/x/experiment.json");
  fs::remove_all(scratch.path() + "/out/x");
  fs::create_directories(scratch.path() + "/out/x/runs");
  scratch.write("out/x/experiment.json", written);
  CHECK(program(other, scratch).exit_code == 0);
  CHECK_FALSE(fs::exists(scratch.path() + "/out/x.1"));
  REQUIRE(program(sweep + " --out .", scratch).exit_code == 0);
  const std::string kept = scratch.path() + ".1";
  CHECK(contains(program(other + " --out .", scratch).err, "are kept in " + kept + " ("));
  CHECK(contents(scratch.path() + "/x.toml") == small);
  CHECK(fs::exists(kept + "/results.json"));
  fs::remove_all(kept);
}

TEST_CASE("resume: versions that wait for each other do not mix") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const auto run = [&](int version) {
    return Process({"run", "x.toml", "--no-why", "--seeds", "1..2", "--set",
                    "training.learning_rate=0.0" + std::to_string(version)},
                   scratch);
  };
  {
    Process first = run(1), second = run(2), third = run(3);
    for (Process* each : {&first, &second, &third}) CHECK(each->wait() == 0);
  }
  std::set<std::string> rates;
  for (const char* directory : {"out/x", "out/x.1", "out/x.2"}) {
    CHECK(results_in(scratch, directory)["runs"].size() == 2);
    rates.insert(results_in(scratch, directory)["scenario"]["training"]["learning_rate"].dump());
    std::size_t records = 0;
    for (const auto& [name, text] : files_below(scratch.path() + "/" + directory)) records += name.starts_with("runs/");
    CHECK(records == 4);  // two baselines
  }
  CHECK(rates.size() == 3);
  CHECK_FALSE(fs::exists(scratch.path() + "/out/x.3"));
}

TEST_CASE("resume: without experiment.json the results themselves say whose they are") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const std::string out = scratch.path() + "/out/x";
  fs::remove(out + "/experiment.json");
  const auto before = files_below(out);
  const std::string other = sweep + " --set training.learning_rate=0.05";
  const Called changed = program(other, scratch);
  CHECK(changed.exit_code == 0);
  CHECK(contains(changed.err, "are kept in out/x.1 (training.learning_rate is 0.1 there and 0.05 here)"));
  CHECK(files_below(out + ".1") == before);
  fs::remove_all(out);
  fs::rename(out + ".1", out);
  const Called same = program(sweep, scratch);
  CHECK(same.exit_code == 0);
  CHECK(contains(same.err, "already"));
  fs::remove(out + "/experiment.json");
  scratch.write("out/x/results.json", "{}");
  const Called unknown = program(sweep, scratch);
  CHECK(unknown.exit_code == 5);
  CHECK(contains(unknown.err,
                 "out/x/results.json: found no scenario in it; so nobody knows whose results these are; --force "
                 "replaces them\n"));
  CHECK(program(other + " --force", scratch).exit_code == 0);
  CHECK(results_in(scratch)["scenario"]["training"]["learning_rate"] == 0.05);
}

TEST_CASE("resume: a damaged record is named, set aside and done again") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const std::string good = contents(record_of(scratch, 0));
  std::string number = good;
  number.replace(number.find("\"samples\":2000"), 14, "\"samples\":2001");
  for (const auto& [text, fault] : std::vector<std::pair<std::string, std::string>>{
           {good.substr(0, good.size() / 2), " is no whole record"},
           {"", " is no whole record"},
           {"{}", " has no checksum"},
           {number, " does not have the contents of its checksum"},
           {contents(record_of(scratch, 1)), " does not have the contents of its checksum"}}) {
    INFO(fault);
    const std::string file = record_of(scratch, 0);
    std::ofstream(file) << text;
    const Called called = program(sweep, scratch);
    CHECK(called.exit_code == 0);
    const std::string id = fs::path(file).stem();
    CHECK(contains(called.err, "simgrad: out/x/runs/" + id + ".json" + fault + "; it is now " + id +
                                   ".json.damaged, and the run is done again\n"));
    CHECK(contains(called.err, "simgrad: 5 of 6 runs are in out/x already"));
    CHECK(contents(file + ".damaged") == text);
    Json again = Json::parse(contents(file)), before = Json::parse(good);
    again.erase("wall_s");
    before.erase("wall_s");
    CHECK(again == before);
    fs::remove(file + ".damaged");
  }
}

TEST_CASE("resume: runs whose timeline is missing, failed runs, and runs to be traced are done again") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  fs::remove_all(scratch.path() + "/out/x/timelines");
  const auto before = files_below(scratch.path() + "/out/x");
  const Called again = program(sweep, scratch);
  CHECK(contains(again.err, "simgrad: 5 of 6 runs are in out/x already"));  // the first seed's has one
  CHECK(contains(again.err, "simgrad: 1 of 6 runs are simulated again for their timelines; their results stay\n"));
  auto after = files_below(scratch.path() + "/out/x");
  CHECK(std::erase_if(after, [](const auto& file) { return file.first.starts_with("timelines/"); }) == 1);
  for (const auto& [name, text] : before)
    if (name != "report.html") CHECK(after[name] == text);  // wall_s too
  CHECK_FALSE(contains(program(sweep + " --trace", scratch).err, "already"));
  scratch.write("y.toml", with(small, "[stop]", "[cluster.watchdog]\nsimulated = \"1ns\"\n[stop]"));
  REQUIRE(program("run y.toml --no-why", scratch).exit_code == 1);
  CHECK_FALSE(contains(program("run y.toml --no-why", scratch).err, "already"));
}

TEST_CASE("resume: a run whose timeline is empty, full of zeros or cut off is done again") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const std::string file = "out/x/timelines/" + fs::path(record_of(scratch, 0)).filename().string() + ".gz";
  const std::string whole = contents(scratch.path() + "/" + file);
  std::string other_run = unpacked(scratch.path() + "/" + file);
  other_run.replace(other_run.find("\"run\": \"") + 8, 1, "z");
  for (const std::string& text : {std::string(), std::string(whole.size(), '\0'), whole.substr(0, whole.size() - 1),
                                  std::string(100, '\0') + whole.substr(100),
                                  whole.substr(0, whole.size() - 100) + std::string(100, '\0'), other_run}) {
    scratch.write(file, text);
    CHECK(contains(program(sweep, scratch).err, "simgrad: 5 of 6 runs are in out/x already"));
    CHECK(contents(scratch.path() + "/" + file) == whole);
  }
  CHECK(contains(program(sweep, scratch).err, "simgrad: 6 of 6 runs are in out/x already"));
}

TEST_CASE("resume: temporary files that a killed command has left are removed") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const auto before = files_below(scratch.path() + "/out/x");
  scratch.write("out/x/results.json.0123456789abcdef.tmp", "{");
  scratch.write("out/x/runs/a.json.0123456789abcdef.tmp", "{");
  scratch.write("out/x/.lock", "process 1 on nowhere\n");
  REQUIRE(program(sweep, scratch).exit_code == 0);
  CHECK(files_below(scratch.path() + "/out/x") == before);
}

TEST_CASE("resume: a second command on the directory waits, says for whom, and finds everything done") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const auto said = [&] { return contents(scratch.path() + "/err"); };
  auto first = std::make_unique<simgrad::base::DirectoryLock>(scratch.path() + "/out/x");
  REQUIRE(first->try_take());
  Process second({"run", "x.toml", "--seeds", "1..3", "--no-why"}, scratch);
  CHECK(soon(
      [&] {
        return contains(said(), fmt::format("simgrad: out/x is in use by process {} on ", getpid())) &&
               contains(said(), "; waiting until it ends\n");
      },
      std::chrono::minutes(2)));
  CHECK_FALSE(contains(said(), "already"));
  CHECK(lives(second.id()));
  first.reset();
  CHECK(second.wait() == 0);
  CHECK(contains(said(), "simgrad: 6 of 6 runs are in out/x already"));
}

}  // namespace resume_test
