// The format of every source file, by the same clang-format for everybody.
#include <optional>
#include <regex>

#include "catch.h"
#include "house/repository.h"

namespace formatted_test {

using namespace simgrad::tests;

namespace {

constexpr int clang_format_version = 14;  // Debian 12's; another version breaks lines elsewhere

/// The major version of the clang-format in PATH; nothing without one.
std::optional<int> version_of_clang_format() {
  const Called called = call("clang-format --version", source_dir().string());
  std::smatch match;
  if (!std::regex_search(called.out, match, std::regex(R"(version (\d+)\.)"))) return {};
  return std::stoi(match[1]);
}

}  // namespace

TEST_CASE("every source file is formatted") {
  const std::optional<int> version = version_of_clang_format();
  if (version != clang_format_version) {
    WARN("skipped: clang-format " << clang_format_version << " is not installed (script/bootstrap clang-format)");
    return;
  }
  const Called called = call("script/format --check", source_dir().string());
  INFO(called.err);
  CHECK(called.exit_code == 0);
}

}  // namespace formatted_test
