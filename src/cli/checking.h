/// `check`: the scenarios of one call, their runs, and the findings.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/check_baseline.h"
#include "cli/check_report.h"
#include "cli/check_tally.h"
#include "cli/cli.h"
#include "cli/scenarios.h"
#include "experiment/plan/plan.h"
#include "experiment/run/verdicts.h"
#include "outputs/results.h"

namespace simgrad::cli {

struct CheckOptions {
  std::vector<std::string> scenarios;
  experiment::Selection selection;
  std::string out;
  BaselineOptions baseline;
  ReportOptions report;
  int jobs = 0;
  int threads = -1;
  bool no_vacuous = false;
};

/// A temporary directory, removed with this object.
class Temporary {
 public:
  Temporary();  ///< Errors: EnvironmentError.
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Checking {
 public:
  explicit Checking(const CheckOptions& options)
      : options_(options), report_(options.report), baseline_(options.baseline) {}

  /// Begins the report, and reads the stored baseline. Returns the exit code, not ok, if the baseline cannot be used:
  /// then nothing is run, and the report is at its end.  Errors: EnvironmentError if the report cannot be written.
  Exit start(const std::vector<ReadScenario>& scenarios);
  /// Runs a scenario and tests it; one that cannot be run is noted. Returns false after an interrupt.
  bool check(ReadScenario& scenario, std::size_t index);
  /// Ends the report at an interrupt, which kept these scenarios from being checked.
  void interrupt(const std::vector<ReadScenario>& scenarios, std::size_t from);
  /// Prints the tally and writes the files. Returns the exit code.
  Exit end();

 private:
  Exit end_without_baseline(const std::vector<ReadScenario>& scenarios, const std::vector<std::string>& faults,
                            Exit exit);
  bool judge(const ReadScenario& scenario, std::size_t index);
  std::size_t tell_failed_runs(const std::vector<outputs::Run>& runs, const std::string& file);
  void test_expectations(const experiment::Plan& plan, const outputs::Results& results, const std::string& file);
  void tell(const experiment::Verdict& verdict, const experiment::Plan& plan);
  outputs::Results results_of(const experiment::Plan& plan, std::size_t index);

  const CheckOptions& options_;
  Temporary temporary_;
  Tally tally_;
  CheckReport report_;
  BaselineCheck baseline_;
  std::vector<std::string> all_untested_;
};

}  // namespace simgrad::cli
