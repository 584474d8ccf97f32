/// The command line of `simgrad-plan`: that of `simgrad`, and a file for each of the two
/// subcommands that `simgrad` lacks.
#pragma once

#include <cstdint>

#include "capacity/check.h"
#include "cli/cli.h"

namespace simgrad::plan_cli {

void add_plan(CLI::App& app, int& exit_code);
void add_capacity(CLI::App& app, int& exit_code);

/// For `validate`, which ends as the subcommand would. Data files of more than `most_bytes` are not read.
/// Errors: ScenarioError.
void check_plan(const cli::Chosen& chosen, std::uintmax_t most_bytes);

inline constexpr cli::PlanCommands commands{
    .plan = add_plan, .capacity = add_capacity, .check_plan = check_plan, .check_capacity = capacity::check};

}  // namespace simgrad::plan_cli
