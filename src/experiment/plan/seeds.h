/// The seeds of the option --seeds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simgrad::experiment {

/// "1..5", "3", or "1,4".  Errors: ScenarioError for a text that names no seeds, or one of them twice.
std::vector<std::uint64_t> parse_seeds(const std::string& text);

}  // namespace simgrad::experiment
