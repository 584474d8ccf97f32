/// The command line of `simgrad-plan`: that of `simgrad`, and a file for each of the two
/// subcommands that `simgrad` lacks.
#pragma once

#include "capacity/check.h"
#include "cli/cli.h"

namespace simgrad::plan_cli {

void add_plan(CLI::App& app, int& exit_code);
void add_capacity(CLI::App& app, int& exit_code);

/// For `validate`, which ends as the subcommand would.  Errors: ScenarioError.
void check_plan(const cli::Chosen& chosen);

inline constexpr cli::PlanCommands commands{
    .plan = add_plan, .capacity = add_capacity, .check_plan = check_plan, .check_capacity = capacity::check};

}  // namespace simgrad::plan_cli
