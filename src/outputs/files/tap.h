/// Test results in the Test Anything Protocol, for continuous integration and for `prove`.
/// Source: the TAP version 13 specification, https://testanything.org/tap-version-13-specification.html.
#pragma once

#include <cstddef>
#include <string>

#include "outputs/files/test_suite.h"

namespace simgrad::outputs {

/// The first line of a stream of test points.
std::string tap_begin();
/// A test point, with a YAML block of what was found. Cases that are untested or vacuous are
/// `# SKIP` with the reason.  number: counts from 1 over all suites.
std::string tap_point(std::size_t number, const TestSuite& suite, const TestCase& test);
/// The plan, which may stand at the end.
std::string tap_end(std::size_t points);
/// The line of a test that ends before its plan.
std::string tap_bail_out(const std::string& reason);

}  // namespace simgrad::outputs
