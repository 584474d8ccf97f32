/// `explain metrics`: the numbers of a run, of which an expectation can be about each.
#pragma once

#include <string_view>

namespace simgrad::cli {

inline constexpr std::string_view metrics_name = "metrics";

/// Prints the metrics in the order of results.json: with unit, direction and meaning.
void print_metrics();

}  // namespace simgrad::cli
