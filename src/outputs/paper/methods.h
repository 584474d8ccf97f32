/// A paragraph on the method for a paper: what was simulated, of what the numbers are means, and what is not modelled.
#pragma once

#include <string>
#include <vector>

#include "outputs/results.h"

namespace simgrad::outputs::paper {

/// Returns the paragraph, in English, on one line. Each number in it is in results.json.
std::string methods(const Results& results);

/// Returns "seed 3", "seeds 1 to 5" or "seeds 1, 4, 9"; many seeds that are not in a row are counted.
std::string seeds_text(const Results& results);

/// Returns "a loss of 0.02 or less"; empty without a target, and where the grid varies it.
std::string target_text(const Results& results);

}  // namespace simgrad::outputs::paper
