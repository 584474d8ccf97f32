/// `check --baseline FILE` and `check --update FILE`: a stored baseline is compared with, or written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/baseline_comparison.h"
#include "outputs/files/test_suite.h"

namespace simgrad::cli {

struct BaselineOptions {
  std::string baseline;  ///< the file to compare with; empty: none
  std::string update;    ///< the file to write; empty: none
  bool exact = false;    ///< the gate is "the same bits", not "within tolerance"
  bool force = false;    ///< exact values may be replaced
};

class BaselineCheck {
 public:
  explicit BaselineCheck(const BaselineOptions& options) : options_(options) {}

  bool compares() const { return !options_.baseline.empty(); }
  bool updates() const { return !options_.update.empty(); }
  bool any() const { return compares() || updates(); }
  const std::string& file() const { return compares() ? options_.baseline : options_.update; }

  /// Reads the file, before anything runs.  Errors: ScenarioError, EnvironmentError.
  void read();
  /// Adds a fault if the stored runs are of another scenario than this one.
  void require(const experiment::Plan& plan, const std::string& scenario_file, scenario::Faults& faults) const;
  /// The case of a scenario that was run: what differs, or what will be stored.
  outputs::TestCase judge(const outputs::Results& results, const experiment::Plan& plan);
  /// A scenario could not be run, so that nothing may be written.
  void note_broken() { blocked_ = true; }
  /// Writes the file of --update, if nothing speaks against it.  Errors: EnvironmentError.
  void write();

  std::size_t failures() const { return failures_; }  ///< scenarios that differ, or are not stored
  /// "stored baseline b.toml: the same bits"
  std::string tally() const;

 private:
  outputs::TestCase compared(const outputs::Results& results);
  outputs::TestCase updated(const outputs::Results& results, const experiment::Plan& plan);

  BaselineOptions options_;
  experiment::StoredBaseline stored_;
  experiment::StoredBaseline next_;
  std::size_t scenarios_ = 0, failures_ = 0, exact_ = 0;
  bool blocked_ = false;
  bool written_ = false;
};

}  // namespace simgrad::cli
