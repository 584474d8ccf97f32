/// The command line: one file for each subcommand.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace simgrad::experiment {
struct Plan;
}

namespace simgrad::cli {

struct Chosen;

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

/// A subcommand adds itself to the application and, once called, sets `exit_code`.
using Add = void (*)(CLI::App& app, int& exit_code);

/// The parts of `simgrad-plan` that `simgrad` lacks, so that it is built sooner: two subcommands, and the checks that
/// `validate` makes of scenarios for them.
struct PlanCommands {
  Add plan = nullptr;
  Add capacity = nullptr;
  /// Raise what the subcommand refuses in a scenario with its section before it simulates anything. Data files of more
  /// than `most_bytes` are not read.
  void (*check_plan)(const Chosen& chosen, std::uintmax_t most_bytes) = nullptr;
  void (*check_capacity)(const experiment::Plan& plan) = nullptr;
};
inline constexpr const char* plan_summary =
    "Finds the cheapest, fastest or least-energy way to reach the goal in [plan]";
inline constexpr const char* capacity_summary =
    "Simulates the scenario's fleet over a long time: goodput, waiting, spares, days to the end";

/// Parses, runs the subcommand, prints errors on stderr. Returns the exit code. Subcommands that `plan_commands`
/// lacks are left to the program that has them: it takes this one's place, with the same words.
int run(int argc, char** argv, const PlanCommands& plan_commands = {});

// The other subcommands.
void add_init(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
/// argv: handed over to `simgrad-plan` where a scenario has a section that plan_commands cannot check.
void add_validate(CLI::App& app, int& exit_code, const PlanCommands& plan_commands, char** argv);
/// Becomes `simgrad-plan`, which lies beside this program and takes the same words.  Errors: EnvironmentError.
[[noreturn]] void hand_over(char** argv);
void add_check(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_merge(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);

}  // namespace simgrad::cli
