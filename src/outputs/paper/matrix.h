/// The matrices of pairs for a paper.
#pragma once

#include <string>

#include "outputs/results.h"

namespace simgrad::outputs::paper {

/// Returns a table a grid point with pairs: p-values by Holm's method, strategy by strategy. Empty without pairs.
std::string matrices(const Results& results);

}  // namespace simgrad::outputs::paper
