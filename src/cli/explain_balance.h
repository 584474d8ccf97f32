/// The shares of unlike hosts, as `explain balance SCENARIO` prints them.
#pragma once

#include <string_view>

#include "experiment/plan/plan.h"

namespace simgrad::cli {

inline constexpr std::string_view balance_name = "balance";

/// Prints a table of the workers' shares of a step's batch by speed and memory, equal shares beside, of a pipeline the
/// stages beside stages of equal size, and of tensor ranks on unlike devices their shares of products beside equal
/// ones, with sentences that explain them. Errors: ScenarioError for a platform, whose hosts are not known before a
/// run.
void print_balance(const experiment::RunPlan& run);

}  // namespace simgrad::cli
