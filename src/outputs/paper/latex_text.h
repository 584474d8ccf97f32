/// Texts and numbers as LaTeX.
#pragma once

#include <string>
#include <string_view>

namespace simgrad::outputs::paper {

/// Returns the text with what LaTeX would take for commands escaped; control characters become spaces. Other characters
/// stay UTF-8.
std::string latex_text(std::string_view text);

/// Returns a number with three significant digits, "12.3" or "$1.23 \times 10^{-9}$"; "--" if it is not finite.
/// margin: half of its interval. Where it is finite it follows the sign "\pm", and decides about the digits of both:
/// two of its own, but at most four of the number. A margin that rounds to 0 is left out.
std::string latex_number(double number, double margin);

/// Returns a p-value: "0.012", "$<0.001$"; in bold type below 0.05; "--" for NaN.
std::string latex_p_value(double p);

}  // namespace simgrad::outputs::paper
