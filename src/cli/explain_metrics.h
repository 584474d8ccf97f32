/// `explain metrics`: the numbers of a run, of which an expectation can be about each.
#pragma once

#include <string>
#include <string_view>

namespace simgrad::cli {

inline constexpr std::string_view metrics_name = "metrics";

/// The metrics in the order of results.json: with unit, direction and meaning.
std::string metrics_text();

}  // namespace simgrad::cli
