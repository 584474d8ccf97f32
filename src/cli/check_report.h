/// The output of `check`: lines or TAP on stdout, JUnit XML, and GitHub's annotations and summary.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "outputs/files/test_suite.h"

namespace simgrad::cli {

struct ReportOptions {
  std::string junit;   ///< the file; empty: none
  bool tap = false;    ///< TAP instead of the usual lines
  bool quiet = false;  ///< no lines of cases that are ok
};

class CheckReport {
 public:
  explicit CheckReport(const ReportOptions& options) : options_(options) {}

  /// Fails now rather than after hours, if the JUnit file cannot be written.  Errors: EnvironmentError.
  void start() const;
  /// The cases that are added from now on are this scenario's.
  void begin(const std::string& scenario);
  void add(outputs::TestCase test);
  void add_silently(outputs::TestCase test);  ///< without a line among the usual ones
  /// Adds a scenario that could not be run, or was not; its faults have been told.
  void add_broken(const std::string& scenario, const std::vector<std::string>& faults);
  /// Adds a stored baseline that cannot be used; its faults have been told.
  void add_broken_baseline(const std::string& baseline, const std::vector<std::string>& faults);
  /// A line that is no case.
  void remark(const std::string& text) const;
  /// Prints the tally and the annotations, and writes the files.  Errors: EnvironmentError.
  void end(const std::string& tally) const;
  /// Ends a report after which nothing more is checked: the reason is TAP's last line, and the files are written.
  /// Errors: EnvironmentError.
  void bail_out(const std::string& reason) const;

 private:
  void print(const outputs::TestCase& test) const;
  void print_tap(const outputs::TestCase& test);
  void add_error(const std::string& file, const char* name, const std::vector<std::string>& faults);
  void write_junit() const;
  void tell_github(const std::string& tally) const;

  ReportOptions options_;
  std::vector<outputs::TestSuite> suites_;
  std::size_t points_ = 0;
};

}  // namespace simgrad::cli
