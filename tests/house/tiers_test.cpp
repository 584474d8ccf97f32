// The tiers of tests/tiers.txt, held against the test files and against what CTest runs.
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "catch.h"
#include "house/repository.h"
#include "outputs/results.h"

namespace tiers_test {

using namespace simgrad;
using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// The tiers of the files that tests/tiers.txt names; a file that is named twice has two.
std::map<std::string, std::vector<std::string>> tiers_by_file() {
  std::map<std::string, std::vector<std::string>> tiers;
  for (const std::string& line : lines(text_of("tests/tiers.txt"))) {
    if (line.starts_with("#")) continue;
    std::istringstream fields(line);
    std::string tier, seconds, file;
    fields >> tier >> seconds >> file;
    tiers[file].push_back(tier);
  }
  return tiers;
}

/// The literals of a C++ string joined, without their escapes.
std::string joined(const std::string& literals) {
  std::string text;
  bool inside = false;
  for (std::size_t at = 0; at < literals.size(); ++at) {
    if (literals[at] == '"')
      inside = !inside;
    else if (inside)
      text += literals[at] == '\\' ? literals[++at] : literals[at];
  }
  return text;
}

/// The names of the cases of a test file that an ordinary run has: a tag like [.full] hides one.
std::vector<std::string> case_names(const std::string& text) {
  static const std::regex declared(R"re(\nTEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)(,\s*"\[\.)?)re");
  std::vector<std::string> names;
  for (std::sregex_iterator each(text.begin(), text.end(), declared), end; each != end; ++each)
    if (!(*each)[2].matched) names.push_back(joined((*each)[1]));
  return names;
}

/// "folder:name" of a test: releases of CMake differ in the blank behind the colon.
std::string key_of(const std::string& test) {
  const std::size_t colon = test.find(':');
  return test.substr(colon + 1).starts_with(' ') ? test.substr(0, colon + 1) + test.substr(colon + 2) : test;
}

/// The tiers among a test's labels, by the keys of the tests that CTest knows.
std::map<std::string, std::vector<std::string>> tiers_by_test(const std::string& json) {
  std::map<std::string, std::vector<std::string>> tiers;
  const auto all = outputs::parse_json(json);
  for (const auto& test : all.at("tests")) {
    auto& found = tiers[key_of(test.at("name").get<std::string>())];
    for (const auto& property : test.at("properties")) {
      if (property.at("name") != "LABELS") continue;
      for (const auto& label : property.at("value"))
        if (label == "quick" || label == "gate" || label == "all") found.push_back(label.get<std::string>());
    }
  }
  return tiers;
}

/// The test files of a folder; none if one is younger than the folder's test program, which has other cases then.
std::vector<fs::path> built_files(const fs::path& program) {
  const std::string folder = program.stem().string().substr(0, program.stem().string().rfind("_test"));
  std::vector<fs::path> files;
  for (const fs::path& path : repository_files()) {
    if (path.parent_path() != fs::path("tests") / folder || !path.string().ends_with("_test.cpp")) continue;
    if (fs::last_write_time(source_dir() / path) > fs::last_write_time(program)) return {};
    files.push_back(path);
  }
  return files;
}

}  // namespace

TEST_CASE("a tier names files that are there, and none twice") {
  const auto tiers = tiers_by_file();
  CHECK(tiers.size() > 20);
  for (const auto& [file, named] : tiers) {
    INFO(file);
    CHECK(fs::is_regular_file(source_dir() / file));
    REQUIRE(named.size() == 1);
    CHECK((named[0] == "gate" || named[0] == "all"));
  }
}

TEST_CASE("CTest runs each case of each test file, and in its file's tier alone") {
  const fs::path build = fs::path(SIMGRAD_PROGRAM).parent_path();
  const Called listed = call("ctest --test-dir . --show-only=json-v1", build.string());
  if (listed.exit_code == 127) {
    WARN("skipped: ctest is not in PATH");
    return;
  }
  REQUIRE(listed.exit_code == 0);
  const auto tests = tiers_by_test(listed.out);
  CHECK(tests.size() > 100);
  for (const auto& [test, tiers] : tests) {
    INFO(test);
    const bool built = test.find("_NOT_BUILT") == std::string::npos;
    CHECK((tiers.size() == 1 || !built || test.starts_with("changed:")));
  }
  const auto named = tiers_by_file();
  for (const auto& entry : fs::directory_iterator(build / "tests")) {
    if (entry.is_directory() || !entry.path().string().ends_with("_test")) continue;
    for (const fs::path& file : built_files(entry.path())) {
      const auto found = named.find(file.string());
      const std::string tier = found == named.end() ? "quick" : found->second.front();
      for (const std::string& name : case_names(text_of(file))) {
        INFO(file << ": " << name);
        const auto test = tests.find(key_of(file.parent_path().filename().string() + ": " + name));
        REQUIRE(test != tests.end());
        CHECK(test->second == std::vector{tier});
      }
    }
  }
}

}  // namespace tiers_test
