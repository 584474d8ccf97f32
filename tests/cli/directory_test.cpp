// The results directory is one command's until that command has written its last file.
#include <unistd.h>

#include <filesystem>

#include "base/directory_lock.h"
#include "catch.h"
#include "cli/process.h"
#include "cli/scenario.h"

namespace directory_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

bool is_taken(const std::string& directory) { return !simgrad::base::DirectoryLock(directory).try_take(); }

/// Stops the command between its results and its page, and requires that it has the directory then. The page takes much
/// longer than a look at the file; a command that has been faster all the same is called again.
void check_taken_until_the_report_is_written(const std::vector<std::string>& command, const Scratch& scratch) {
  const std::string out = scratch.path() + "/out";
  const auto exists = [&](const char* name) { return access((out + "/" + name).c_str(), F_OK) == 0; };
  for (int attempts = 0; attempts < 20; ++attempts) {
    fs::remove_all(out);
    Process process(command, scratch);
    while (!exists("results.json") && lives(process.id())) {
    }
    process.send(SIGSTOP);
    REQUIRE(soon([&] { return state_of(process.id()).at(0) != "R"; }));
    const bool between = exists("results.json") && !exists("report.html");
    if (between) CHECK(is_taken(out));
    process.send(SIGCONT);
    CHECK(process.wait() == 0);
    CHECK(contents(out + "/report.html").ends_with("</html>\n"));
    CHECK_FALSE(is_taken(out));
    if (between) return;
  }
  FAIL("the page was always there already");
}

}  // namespace

TEST_CASE("run keeps its directory until the report is written") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --no-why --out first", scratch).exit_code == 0);
  if (!fs::exists(scratch.path() + "/first/report.html")) return;  // built without Node
  check_taken_until_the_report_is_written({"run", "x.toml", "--no-why", "--quiet", "--out", "out"}, scratch);
}

TEST_CASE("merge keeps its directory until the report is written") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --no-why --out first", scratch).exit_code == 0);
  if (!fs::exists(scratch.path() + "/first/report.html")) return;  // built without Node
  for (const char* shard : {"1/2", "2/2"})
    REQUIRE(program(std::string("run x.toml --quiet --out parts --shard ") + shard, scratch).exit_code == 0);
  check_taken_until_the_report_is_written(
      {"merge", "parts/shard-1-of-2", "parts/shard-2-of-2", "--no-why", "--quiet", "--out", "out"}, scratch);
}

TEST_CASE("a grid over files that grows or shrinks is the same experiment, and an edited file makes another one") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n",
                               "source = \"csv\"\npath = \"a.csv\"\n"));
  scratch.write("a.csv", "a,b\n1,2\n2,3\n3,5\n4,6\n");
  scratch.write("b.csv", "a,b\n1,2\n2,3\n3,5\n4,7\n");
  const auto kept = [&](const char* files) {
    const Called called = program(std::string("run x.toml --quiet --no-why --grid 'data.path=") + files + "'", scratch);
    CHECK(called.exit_code == 0);
    return contains(called.err, "an earlier version");
  };
  CHECK_FALSE(kept("a.csv"));
  CHECK_FALSE(kept("a.csv,b.csv"));
  CHECK_FALSE(kept("b.csv"));
  CHECK_FALSE(kept("a.csv,b.csv"));
  scratch.write("b.csv", "a,b\n1,2\n2,3\n3,5\n4,8\n");
  CHECK(kept("a.csv,b.csv"));
}

}  // namespace directory_test
