/// Test results for GitHub Actions: annotations of files, and a summary in Markdown.
/// Source: GitHub, "Workflow commands for GitHub Actions", docs.github.com.
#pragma once

#include <string>
#include <vector>

#include "outputs/files/test_suite.h"

namespace simgrad::outputs {

/// `::error file=,line=,col=::message` for each failure, `::warning ...` for each case that is untested or vacuous, one
/// a line. A failure with remarks gives a line for each of them, ten at most.
std::string github_annotations(const std::vector<TestSuite>& suites);

/// A heading, the tally, a table of all that is not ok, fifty rows at most, and the details of each.
std::string github_summary(const std::vector<TestSuite>& suites, const std::string& tally);

}  // namespace simgrad::outputs
