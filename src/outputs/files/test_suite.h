/// The findings of `check`, for every form in which they are reported: lines, JUnit, TAP, GitHub's annotations and
/// summary.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace simgrad::outputs {

/// A place in a file of the user's; line 0: none is known.
struct FilePlace {
  std::string file = {};
  int line = 0;
  int column = 0;
};

enum class CaseOutcome {
  ok,
  failed,
  error,     ///< there was no value
  untested,  ///< no run of this command is concerned
  vacuous    ///< ok, but it could not have failed
};

/// A failure's part with a place of its own.
struct CaseRemark {
  FilePlace place;
  std::string text;
};

struct TestCase {
  std::string name;
  CaseOutcome outcome = CaseOutcome::ok;
  std::string text = {};                             ///< the value found, or the reason
  std::optional<double> time_s = {};                 ///< real time
  FilePlace place = {};                              ///< of the expectation
  std::vector<CaseRemark> remarks = {};              ///< instead of the case's own place
  std::vector<std::vector<std::string>> table = {};  ///< details: the first row is the heading
  std::size_t rows_left_out = 0;                     ///< of the table
  std::string bound = {};                            ///< the part of the name that is words
};

/// The findings of one scenario.
struct TestSuite {
  std::string name;
  std::vector<TestCase> cases = {};
};

/// The table in lines of equal columns, two spaces between them, and a last line that counts the rows left out.
std::vector<std::string> table_lines(const TestCase& test);

}  // namespace simgrad::outputs
