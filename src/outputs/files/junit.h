/// Test results as JUnit XML, for continuous integration.
/// Source: the de facto format of Apache Ant's <junitreport> task. Times are real time, as wall_s in results.json: the
/// only thing in which the files of equal results differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace simgrad::outputs {

struct TestCase {
  std::string name;
  std::optional<std::string> failure = {};  ///< the value found and the value expected
  std::optional<std::string> error = {};    ///< why there was no value
  std::optional<std::string> skipped = {};  ///< why the case was not run
  std::string output = {};                  ///< the value found
  std::optional<double> time_s = {};        ///< real time
};

struct TestSuite {
  std::string name;
  std::vector<TestCase> cases = {};
};

/// Returns the whole document. Characters that XML cannot hold, and bytes that are not UTF-8, become U+FFFD.
std::string junit(const std::vector<TestSuite>& suites);

}  // namespace simgrad::outputs
