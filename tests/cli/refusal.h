// The checks of a refusal.
#pragma once

#include "catch.h"
#include "cli/scenario.h"

namespace simgrad::tests {

/// Runs x.toml of the scratch directory, which must be refused before anything is simulated: with these lines on stderr
/// and nothing else, nothing on stdout, and nothing written.  Each expected line may leave out its end.
inline void check_refused(const Scratch& scratch, const std::vector<std::string>& expected, int exit_code = 2,
                          const std::string& arguments = "") {
  const Called called = program("run x.toml " + arguments, scratch);
  CAPTURE(called.err);
  CHECK(called.exit_code == exit_code);
  CHECK(called.out.empty());
  CHECK_FALSE(std::filesystem::exists(scratch.path() + "/out"));
  const std::vector<std::string> lines = lines_of(called.err);
  REQUIRE(lines.size() == expected.size());
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(lines[i].substr(0, expected[i].size()) == expected[i]);
}

inline void check_refused(const std::string& text, const std::vector<std::string>& expected) {
  const Scratch scratch;
  scratch.write("x.toml", text);
  check_refused(scratch, expected);
}

}  // namespace simgrad::tests
