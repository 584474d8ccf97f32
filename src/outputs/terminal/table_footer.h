/// The parts of the comparison that table() puts together.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "outputs/comparison.h"

namespace simgrad::outputs {

/// How a part of the time is drawn: compute, communicate, wait, down.
inline constexpr std::array<std::string_view, 4> shades = {"█", "▓", "░", "×"};
inline constexpr std::array<std::string_view, 4> part_names = {"compute", "communicate", "wait", "down"};

/// The one sentence: who leads, by how much, and what its time goes into.
std::string sentence(const Comparison& comparison);

/// What stands under the table: legend, target, baselines, the sentence, what is missing, errors, notes.
std::string table_footer(const Results& results, const Comparison& comparison, std::size_t width, bool bars_shown);

}  // namespace simgrad::outputs
