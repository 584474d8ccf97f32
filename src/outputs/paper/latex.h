/// The results as LaTeX for a paper: a table of the means, a matrix of pairs a grid point, and a paragraph on the
/// method.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "outputs/results.h"

namespace simgrad::outputs::paper {

/// The beginning of the text.
inline constexpr std::string_view beginning_of_latex = "% Tables by simgrad report --latex.";

/// The most matrices of pairs.
inline constexpr std::size_t most_matrices = 6;

/// Returns the text, in English, which needs the package booktabs. The table has the rows and columns of the
/// terminal's, without the bar, bytes and messages; numbers stand in one unit a column. Matrices are those of pairs.h.
std::string latex(const Results& results);

}  // namespace simgrad::outputs::paper
