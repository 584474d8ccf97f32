/// The counts of one `check`, which decide its exit code.
#pragma once

#include <cstddef>
#include <string>

#include "cli/cli.h"

namespace simgrad::cli {

struct Tally {
  std::size_t runs = 0, failed_runs = 0, baselines_failed = 0;
  std::size_t held = 0, failed = 0, untested = 0, vacuous = 0;
  std::size_t scenarios = 0, without_expectations = 0;  ///< that were run
  std::size_t broken = 0;                               ///< that could not be run
  Exit broken_exit = Exit::ok;                          ///< of the first of those

  Exit exit() const {
    if (broken > 0) return broken_exit;
    if (runs > 0 && failed_runs == runs) return Exit::every_run_failed;
    if (failed_runs > 0 || baselines_failed > 0) return Exit::some_runs_failed;
    return failed > 0 ? Exit::expectation_failed : Exit::ok;
  }
};

/// "2 scenarios: 5 expectations ok, 1 failed, 1 vacuous; 1 of 9 runs failed"
std::string text(const Tally& tally);

}  // namespace simgrad::cli
