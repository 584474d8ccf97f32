/// Values of a grid by formula: range(a,b,step) and logspace(a,b,n), of numbers and of quantities with units.
#pragma once

#include <string_view>
#include <vector>

#include "scenario/node.h"

namespace simgrad::scenario {

/// The most values of one formula.
inline constexpr std::int64_t formula_values_most = 20'000;

/// True if the text begins as a formula does, sound or not: "range(", "logspace(".
bool is_formula(std::string_view text);

/// The values, at the position.
///
/// range(a,b,step): a, a + step, ... as far as b, which is one of them if a step falls on it. The step of numbers is 1
/// unless it is given. The values are exact decimals: range(0.1,0.4,0.1) has 0.3, not 0.30000000000000004.
/// logspace(a,b,n): n values from a to b, each a constant multiple of the one before. The ends are exact, and the
/// values between them are rounded to six digits.
/// Integers give integers; a number with a point or an exponent makes all of them floats. Quantities of one unit keep
/// it.
/// Errors: std::invalid_argument with the formula, the fault and a remedy.
std::vector<Node> formula_values(std::string_view text, const Position& position);

}  // namespace simgrad::scenario
