// Results directories that somebody has prepared: links, pipes and other names of files in the places of the program's
// own. All of them are replaced or refused; nothing outside is changed, and nobody waits.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "catch.h"
#include "cli/sharded.h"

namespace hostile_directory_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const std::string precious = "a text that is somebody else's\n";

/// Two runs that share their numbers.
const std::string kept =
    with(small, "workers = 4", "workers = 2") + "[grid]\n\"cluster.bandwidth\" = [\"1Gbps\", \"2Gbps\"]\n";
/// Both kinds of scenario, so that a directory has files of every kind: runs that keep their models share no numbers.
const std::vector<std::string> both{kept, "save_model = true\n" + kept};
const std::string all_files = " --quiet --no-why --trace --sqlite";

const std::string searched =
    "[plan]\nobjective = \"fastest\"\nseconds = \"20s\"\n[plan.space]\n"
    "\"training.learning_rate\" = [0.1, 0.2]\n";

std::string with_goal(const std::string& text) { return with(text, "steps = 10\n", "steps = 10\nloss = 0.3\n"); }

/// The names of all files below a directory, and those that appear while a command runs.
std::set<std::string> files_of(const std::string& directory) {
  std::set<std::string> names{".lock"};
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) names.insert(fs::relative(entry.path(), directory).string());
  return names;
}

enum class Put { link, link_to_nothing, other_name, pipe };

/// A directory in which each of the files is something else, that leads to a file elsewhere.
void prepare(const Scratch& scratch, const std::string& out, const std::set<std::string>& names, Put put) {
  fs::create_directories(scratch.path() + "/victims");
  std::size_t number = 0;
  for (const std::string& name : names) {
    const std::string path = scratch.path() + "/" + out + "/" + name;
    const std::string victim = fmt::format("{}/victims/{}", scratch.path(), number++);
    fs::create_directories(fs::path(path).parent_path());
    if (put == Put::link || put == Put::other_name)
      scratch.write(fs::relative(victim, scratch.path()).string(), precious);
    if (put == Put::link || put == Put::link_to_nothing) fs::create_symlink(victim, path);
    if (put == Put::other_name) fs::create_hard_link(victim, path);
    if (put == Put::pipe) REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  }
}

/// Nothing outside is changed, and the files are the program's own now.
void check_replaced(const Scratch& scratch, const std::string& out, const std::set<std::string>& names, Put put) {
  std::size_t victims = 0;
  for (const auto& entry : fs::directory_iterator(scratch.path() + "/victims")) {
    ++victims;
    CHECK(contents(entry.path().string()) == precious);
  }
  CHECK(victims == (put == Put::link || put == Put::other_name ? names.size() : 0));
  for (const std::string& name : names) {
    if (name == ".lock") continue;
    INFO(name);
    const fs::path path = scratch.path() + "/" + out + "/" + name;
    CHECK(fs::is_regular_file(fs::symlink_status(path)));
    CHECK(fs::hard_link_count(path) == 1);
  }
}

/// Runs a command in a directory in which each of its files is something else.  first: the directory that the command
/// makes when there is none.
void check_command(const Scratch& scratch, const std::string& command, const std::string& first) {
  const std::set<std::string> names = files_of(scratch.path() + "/" + first);
  for (const Put put : {Put::link, Put::link_to_nothing, Put::other_name, Put::pipe}) {
    INFO(command << " " << static_cast<int>(put));
    fs::remove_all(scratch.path() + "/victims");
    fs::remove_all(scratch.path() + "/out");
    prepare(scratch, "out", names, put);
    const Called called = program(command + " --out out", scratch);
    INFO(called.err);
    CHECK(called.exit_code == 0);
    check_replaced(scratch, "out", names, put);
  }
}

/// All files below a directory with their contents, links with their targets.
std::vector<std::pair<std::string, std::string>> all_below(const std::string& directory) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    all.emplace_back(entry.path().string(), entry.is_symlink()        ? fs::read_symlink(entry.path()).string()
                                            : entry.is_regular_file() ? contents(entry.path().string())
                                                                      : "");
  std::ranges::sort(all);
  return all;
}

}  // namespace

TEST_CASE("run replaces whatever has the names of its files, and changes nothing outside") {
  for (const std::string& text : both) {
    const Scratch scratch;
    scratch.write("x.toml", text);
    REQUIRE(program("run x.toml --out first" + all_files, scratch).exit_code == 0);
    check_command(scratch, "run x.toml --force" + all_files, "first");
    CHECK(differing(scratch.path() + "/out", scratch.path() + "/first") == "results.sqlite ");
  }
}

TEST_CASE("run reads no pipe, and no link to nothing, in the place of its files") {
  for (const std::string& text : both) {
    const Scratch scratch;
    scratch.write("x.toml", text);
    REQUIRE(program("run x.toml --out first" + all_files, scratch).exit_code == 0);
    const std::set<std::string> names = files_of(scratch.path() + "/first");
    for (const Put put : {Put::link_to_nothing, Put::pipe}) {
      fs::remove_all(scratch.path() + "/out");
      prepare(scratch, "out", names, put);
      const Called called = program("run x.toml --out out" + all_files, scratch);
      INFO(called.err);
      CHECK(called.exit_code == 0);
      check_replaced(scratch, "out", names, put);
    }
  }
}

TEST_CASE("merge replaces whatever has the names of its files, and changes nothing outside") {
  for (const std::string& text : both) {
    const Scratch scratch;
    scratch.write("x.toml", text);
    for (const char* shard : {"1/2", "2/2"})
      REQUIRE(program(std::string("run x.toml --quiet --out parts --shard ") + shard, scratch).exit_code == 0);
    // Copies, so that no file has a second name in a shard.
    const std::string command = "merge parts/shard-1-of-2 parts/shard-2-of-2 --no-why --quiet --sqlite --force";
    REQUIRE(program(command + " --out first", scratch).exit_code == 0);
    const std::set<std::string> names = files_of(scratch.path() + "/first");
    for (const Put put : {Put::link, Put::other_name, Put::pipe}) {
      INFO(static_cast<int>(put));
      fs::remove_all(scratch.path() + "/victims");
      fs::remove_all(scratch.path() + "/out");
      prepare(scratch, "out", names, put);
      const Called called = program(command + " --out out", scratch);
      INFO(called.err);
      CHECK(called.exit_code == 0);
      for (const auto& entry : fs::directory_iterator(scratch.path() + "/victims"))
        CHECK(contents(entry.path().string()) == precious);
      CHECK(differing(scratch.path() + "/out", scratch.path() + "/first") == "equal");
    }
  }
}

TEST_CASE("plan replaces whatever has the names of its files, and changes nothing outside") {
  const Scratch scratch;
  scratch.write("x.toml", with_goal(small) + searched);
  REQUIRE(program("plan x.toml --quiet --out first", scratch).exit_code == 0);
  REQUIRE(fs::exists(scratch.path() + "/first/simulations.jsonl"));
  check_command(scratch, "plan x.toml --quiet --force", "first");
}

TEST_CASE("report replaces the page and the database, and writes through what the command line names") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  scratch.write("page.html", "<p>@simgrad-data@</p>");
  REQUIRE(program("run x.toml --quiet --no-why --out out", scratch).exit_code == 0);
  const std::set<std::string> names{"report.html", "results.sqlite"};
  for (const Put put : {Put::link, Put::link_to_nothing, Put::other_name, Put::pipe}) {
    INFO(static_cast<int>(put));
    fs::remove_all(scratch.path() + "/victims");
    for (const std::string& name : names) fs::remove(scratch.path() + "/out/" + name);
    prepare(scratch, "out", names, put);
    CHECK(program("report out --template page.html --sqlite", scratch).exit_code == 0);
    check_replaced(scratch, "out", names, put);
  }
  scratch.write("target", precious);
  fs::create_symlink("target", scratch.path() + "/named");
  REQUIRE(program("report out --template page.html --out named", scratch).exit_code == 0);
  CHECK(fs::is_symlink(scratch.path() + "/named"));
  CHECK(contains(contents(scratch.path() + "/target"), "<p>{"));
  const Called printed = program("report out --template page.html --out /dev/stdout | cat", scratch);
  CHECK(printed.exit_code == 0);
  CHECK(contains(printed.out, "<p>{"));
  CHECK(fs::is_symlink("/dev/stdout"));
}

TEST_CASE("a directory in the place of a file is refused in a sentence") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  for (const char* name : {"runs.csv", "results.json", ".lock", "experiment.json"}) {
    INFO(name);
    fs::remove_all(scratch.path() + "/out");
    fs::create_directories(scratch.path() + "/out/" + name + "/inside");
    const Called called = program("run x.toml --quiet --no-why --out out", scratch);
    CHECK(called.exit_code == 5);
    CHECK(contains(lines_of(called.err).at(0), std::string("out/") + name));
    CHECK(contains(called.err, "irectory"));
    CHECK(fs::exists(scratch.path() + "/out/" + name + "/inside"));
  }
}

TEST_CASE("a folder that is a link is refused before anything is written or removed") {
  const Scratch scratch;
  scratch.write("x.toml", with_goal(kept) + searched);
  REQUIRE(program("run x.toml --out first --events --trace --no-why", scratch).exit_code == 0);
  for (const char* shard : {"1/2", "2/2"})
    REQUIRE(program(std::string("run x.toml --quiet --out parts --shard ") + shard, scratch).exit_code == 0);
  for (const char* folder : {"runs", "models", "timelines", "trajectories", "trace", "events"}) {
    INFO(folder);
    fs::remove_all(scratch.path() + "/out");
    fs::remove_all(scratch.path() + "/outside");
    fs::copy(scratch.path() + "/first", scratch.path() + "/out", fs::copy_options::recursive);
    if (fs::exists(scratch.path() + "/out/" + folder))
      fs::rename(scratch.path() + "/out/" + folder, scratch.path() + "/outside");
    else
      fs::create_directory(scratch.path() + "/outside");
    scratch.write("outside/0123456789abcdef.json", "{\"id\":\"0123456789abcdef\",\"strategy\":\"single\"}");
    fs::create_directory_symlink("../outside", scratch.path() + "/out/" + folder);
    const auto before = all_below(scratch.path());
    for (const char* command :
         {"run x.toml --quiet --force --set seed=7 --set training.learning_rate=0.2 --out out",
          "run x.toml --no-why --trace --events --out out", "plan x.toml --quiet --force --out out",
          "merge parts --quiet --no-why --force --out out"}) {
      INFO(command);
      const Called called = program(command, scratch);
      CHECK(called.exit_code == 5);
      CHECK(called.err == std::string("out/") + folder +
                              ": is a link; expected a folder, since what lies behind a link is not the program's to "
                              "change\n");
      CHECK(all_below(scratch.path()) == before);
    }
  }
}

TEST_CASE("the directory of a shard that is a link is refused") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  fs::create_directories(scratch.path() + "/parts");
  fs::create_directory(scratch.path() + "/outside");
  fs::create_directory_symlink("../outside", scratch.path() + "/parts/shard-1-of-2");
  const Called called = program("run x.toml --quiet --out parts --shard 1/2", scratch);
  CHECK(called.exit_code == 5);
  CHECK(contains(called.err, "parts/shard-1-of-2: is a link; expected a folder"));
  CHECK(fs::is_empty(scratch.path() + "/outside"));
}

TEST_CASE("pipes among results keep nobody waiting who reads them") {
  for (const std::string& text : both) {
    const Scratch scratch;
    scratch.write("x.toml", text);
    scratch.write("rows.csv", "x0,x1,x2,x3,x4\n1,2,3,4,5\n");
    scratch.write("page.html", "<p>@simgrad-data@</p>");
    REQUIRE(program("run x.toml --quiet --no-why --out out", scratch).exit_code == 0);
    for (const std::string& name : files_of(scratch.path() + "/out")) {
      INFO(name);
      const std::string path = scratch.path() + "/out/" + name;
      if (fs::exists(path)) fs::rename(path, scratch.path() + "/aside");
      REQUIRE(mkfifo(path.c_str(), 0600) == 0);
      for (const char* command : {"report out --template page.html --out seen.html", "merge out --quiet --out merged",
                                  "predict out --data rows.csv --out p.csv", "run x.toml --dry-run --out out"}) {
        INFO(command);
        CHECK(program(command, scratch).exit_code != 124);
      }
      fs::remove(path);
      if (fs::exists(scratch.path() + "/aside")) fs::rename(scratch.path() + "/aside", path);
    }
  }
}

TEST_CASE("a pipe that the command line names is waited for with a word") {
  const Scratch scratch;
  scratch.write("x.toml", small + "[[expect]]\nmetric = \"steps\"\nequals = 10\n");
  REQUIRE(mkfifo((scratch.path() + "/pipe").c_str(), 0600) == 0);
  const Called called = call(
      "(timeout 60 simgrad check x.toml --quiet --junit pipe 2>told) & "
      "for i in $(seq 500); do grep -q waiting told 2>/dev/null && break; sleep 0.05; done; cat pipe; wait",
      scratch.path());
  CHECK(contains(called.out, "<testsuites"));
  CHECK(contains(contents(scratch.path() + "/told"), "pipe: is a pipe that nobody reads; waiting for a reader\n"));
}

TEST_CASE("a scenario's name leads to no other directory") {
  const Scratch scratch;
  scratch.write("...toml", small);
  scratch.write("runs.csv", precious);
  for (const char* command : {"run ...toml", "plan ...toml", "run ...toml --shard all"}) {
    INFO(command);
    const Called called = program(command, scratch);
    CHECK(called.exit_code == 2);
    CHECK(called.err.starts_with("...toml: the name of the file gives the results directory no name"));
  }
  CHECK(contents(scratch.path() + "/runs.csv") == precious);
}

TEST_CASE("a link in the place of the directory that nobody has named is refused") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  fs::create_directories(scratch.path() + "/home");
  fs::create_directories(scratch.path() + "/out");
  fs::create_symlink("../home", scratch.path() + "/out/x");
  CHECK(program("run x.toml --quiet", scratch).exit_code == 5);
  CHECK(fs::is_empty(scratch.path() + "/home"));
  CHECK(program("run x.toml --quiet --out out/x", scratch).exit_code == 0);  // the command line names it
}

TEST_CASE("results of a hundred gigabytes of nothing are refused before they are read") {
  const Scratch scratch;
  fs::create_directories(scratch.path() + "/o");
  scratch.write("o/results.json", "");
  fs::resize_file(scratch.path() + "/o/results.json", std::uintmax_t{100} << 30);
  const Called called = program("report o", scratch);
  CHECK(called.exit_code == 5);
  CHECK(called.err.starts_with("o/results.json would take 1.024e+05 MiB of memory; expected at most the "));
}

}  // namespace hostile_directory_test
