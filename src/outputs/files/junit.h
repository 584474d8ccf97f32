/// Test results in the XML that continuous integration reads.
/// Source: the de facto format of Apache Ant's <junitreport> task; without times, so that equal results give equal
/// bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace simgrad::outputs {

struct TestCase {
  std::string name;
  std::optional<std::string> failure = {};  ///< what was found where something else was expected
  std::optional<std::string> error = {};    ///< why it could not be found out
  std::optional<std::string> skipped = {};  ///< why it was not tried
};

struct TestSuite {
  std::string name;
  std::vector<TestCase> cases = {};
};

/// The whole document.  Characters that XML cannot hold, and bytes that are not UTF-8, become U+FFFD.
std::string junit(const std::vector<TestSuite>& suites);

}  // namespace simgrad::outputs
