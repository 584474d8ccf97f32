/// The numbers that the times and costs of a run rest on, as `explain origins SCENARIO` prints them.
#pragma once

#include <string_view>

#include "experiment/plan/plan.h"

namespace simgrad::cli {

inline constexpr std::string_view origins_name = "origins";

/// Prints each number with its origin: published, assumed, measured or computed.
void print_origins(const experiment::RunPlan& run);

}  // namespace simgrad::cli
