/// The command line: one file for each subcommand.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace simgrad::cli {

/// Exit codes of the contract.
enum Exit {
  ok = 0,
  every_run_failed = 1,
  usage = 2,
  expectation_failed = 3,
  some_runs_failed = 4,
  environment = 5,
  interrupted = 130
};

/// Writes what is printed so far. A full disk may show only here.  Errors: EnvironmentError.
void flush_output();

/// Parses, runs the subcommand, prints errors on stderr. Returns the exit code.
int run(int argc, char** argv);

// The subcommands. Each adds itself to the application and, once called, sets `exit_code`.
void add_run(CLI::App& app, int& exit_code);
void add_validate(CLI::App& app, int& exit_code);
void add_plan(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_merge(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_capacity(CLI::App& app, int& exit_code);

}  // namespace simgrad::cli
