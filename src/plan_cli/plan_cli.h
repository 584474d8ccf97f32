/// The command line of `simgrad-plan`: that of `simgrad`, and a file for each of the two
/// subcommands that `simgrad` lacks.
#pragma once

#include "cli/cli.h"

namespace simgrad::plan_cli {

void add_plan(CLI::App& app, int& exit_code);
void add_capacity(CLI::App& app, int& exit_code);

inline constexpr cli::PlanCommands commands{.plan = add_plan, .capacity = add_capacity};

}  // namespace simgrad::plan_cli
