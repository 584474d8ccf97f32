// The results directory is one command's until that command has written its last file.
#include <sys/stat.h>

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

/// Puts a pipe in the place of the report. The command stands still while it writes the page.
void check_taken_until_the_report_is_written(const std::vector<std::string>& command, const Scratch& scratch) {
  const std::string out = scratch.path() + "/out", pipe = out + "/report.html";
  fs::create_directory(out);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  Process process(command, scratch);
  std::ifstream reader(pipe);  // opened when the command opens it
  CHECK(fs::exists(out + "/results.json"));
  CHECK(is_taken(out));  // the page is larger than a pipe's buffer
  const std::string page{std::istreambuf_iterator<char>(reader), {}};
  CHECK(page.ends_with("</html>\n"));
  CHECK(process.wait() == 0);
  CHECK_FALSE(is_taken(out));
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

}  // namespace directory_test
