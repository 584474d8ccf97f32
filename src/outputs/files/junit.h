/// Test results as JUnit XML, for continuous integration.
/// Source: the de facto format of Apache Ant's <junitreport> task. Times are real time, as wall_s in results.json: the
/// only thing in which the files of equal results differ.
#pragma once

#include <string>
#include <vector>

#include "outputs/files/test_suite.h"

namespace simgrad::outputs {

/// Returns the whole document. Cases that are untested or vacuous are <skipped>. Characters that XML cannot hold, and
/// bytes that are not UTF-8, become U+FFFD.
std::string junit(const std::vector<TestSuite>& suites);

}  // namespace simgrad::outputs
