// Rules for the text of every file.
#include <algorithm>
#include <regex>

#include "catch.h"
#include "house/repository.h"

namespace files_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// The first absolute path of somebody's machine in the text, or "". Scratch files of our own, which every POSIX system
/// has a place for, are none.
std::string machine_path_in(const std::string& text) {
  // The folders are put together here, so that this file does not name one.
  static const std::regex path(std::string(R"((^|[^A-Za-z0-9_.}\-])(/(work|home|root|)") + "tmp" +
                               R"()/(?!simgrad-)[^\s"')`]*))");
  std::smatch match;
  return std::regex_search(text, match, path) ? match[2].str() : std::string();
}

constexpr std::size_t most_lines = 400;

}  // namespace

TEST_CASE("no file names a path of the machine it was written on") {
  for (const fs::path& path : repository_files()) {
    if (path == "LICENSE") continue;
    INFO(path);
    CHECK(machine_path_in(text_of(path)) == "");
  }
}

TEST_CASE("paths of a machine are told from others") {
  const std::string slash = "/";
  CHECK(machine_path_in("see " + slash + "work/main/x.cpp for more") == slash + "work/main/x.cpp");
  CHECK(machine_path_in("\"" + slash + "tmp/a\"") == slash + "tmp/a");
  CHECK(machine_path_in("\n" + slash + "home/me") == slash + "home/me");
  CHECK(machine_path_in("\"" + slash + "tmp/simgrad-XXXXXX\"").empty());
  CHECK(
      machine_path_in("out" + slash + "tmp" + slash + "a, .." + slash + "work" + slash + "b, <oneapi/tbb/x>").empty());
  CHECK(machine_path_in("time " + slash + " work per host").empty());
}

TEST_CASE("no source file is longer than 400 lines") {
  for (const fs::path& path : repository_files()) {
    if (*path.begin() != "src" || path.extension() == ".po") continue;  // one file for all translations
    INFO(path);
    CHECK(lines(text_of(path)).size() <= most_lines);
  }
}

TEST_CASE("CMake and the program tell the same version, and the change log has it") {
  std::smatch in_cmake;
  const std::string cmake = text_of("CMakeLists.txt");
  REQUIRE(std::regex_search(cmake, in_cmake, std::regex(R"(project\(simgrad VERSION ([0-9.]+))")));
  std::smatch in_header;
  const std::string header = text_of("src/base/version.h");
  REQUIRE(std::regex_search(header, in_header, std::regex("version = \"([0-9.]+)\"")));
  CHECK(in_cmake[1].str() == in_header[1].str());
  CHECK(text_of("CHANGELOG.md").find("## [" + in_cmake[1].str() + "]") != std::string::npos);
  CHECK(call("simgrad --version", source_dir().string()).out == "simgrad " + in_cmake[1].str() + "\n");
}

TEST_CASE("the workflow names its actions by commit and its container by digest") {
  const std::string workflow = text_of(".github/workflows/ci.yml");
  const auto count = [&](const char* pattern) {
    const std::regex all(pattern);
    return std::distance(std::sregex_iterator(workflow.begin(), workflow.end(), all), std::sregex_iterator());
  };
  CHECK(count("uses:") == 1);
  CHECK(count("uses: [A-Za-z/-]+@[0-9a-f]{40}  # v") == count("uses:"));
  CHECK(count("container:") == 1);
  CHECK(count("container: [a-z]+:[0-9]+@sha256:[0-9a-f]{64}\n") == count("container:"));
}

TEST_CASE("the scripts can be executed and stop at the first error") {
  for (const char* script : {"script/bootstrap", "script/build-times", "script/demo", "script/test",
                             "script/test-debian", "script/format", ".ci/run"}) {
    INFO(script);
    const auto permissions = fs::status(source_dir() / script).permissions();
    CHECK((permissions & fs::perms::owner_exec) != fs::perms::none);
    CHECK(text_of(script).find("\nset -euo pipefail\n") != std::string::npos);
    CHECK(call("bash -n " + std::string(script), source_dir().string()).exit_code == 0);
  }
}

TEST_CASE("script/test refuses what neither it nor ctest knows, before it builds") {
  for (const char* wrong : {"--al", "house", "-j4 --quik", "-R first second"}) {
    INFO(wrong);
    const Called refused = call("script/test " + std::string(wrong), source_dir().string());
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.starts_with("script/test: un"));
  }
}

TEST_CASE("script/test-debian refuses what it does not know") {
  for (const char* wrong : {"11", "--root", "13 --mirror"}) {
    const Called told = call("script/test-debian " + std::string(wrong), source_dir().string());
    INFO(wrong);
    CHECK(told.exit_code == 2);
    CHECK_THAT(told.err, ContainsSubstring("expected [12|13]"));
  }
}

TEST_CASE("only simgrid_versions knows SimGrid's releases") {
  for (const fs::path& path : repository_files()) {
    if (path.stem() == "simgrid_versions" || path == "tests/house/files_test.cpp") continue;
    if (path.extension() != ".h" && path.extension() != ".cpp") continue;
    INFO(path);
    CHECK(text_of(path).find("SIMGRID_VERSION") == std::string::npos);
  }
}

TEST_CASE("CTest can select every test case by its name") {
  // A semicolon splits a name into two for CMake, and a bracket without its partner joins all names behind it into one.
  // No case has such a name, so that nothing is run, and that passes.
  static const std::regex declared(R"re(TEST_CASE\(\s*"((?:[^"\\]|\\.)*)")re");
  for (const fs::path& path : repository_files()) {
    if (*path.begin() != "tests" || path.extension() != ".cpp") continue;
    INFO(path);
    const std::string text = text_of(path);
    for (std::sregex_iterator each(text.begin(), text.end(), declared), end; each != end; ++each) {
      const std::string name = (*each)[1];
      INFO(name);
      CHECK(name.find(';') == std::string::npos);
      CHECK(std::count(name.begin(), name.end(), '[') == std::count(name.begin(), name.end(), ']'));
    }
  }
}

}  // namespace files_test
