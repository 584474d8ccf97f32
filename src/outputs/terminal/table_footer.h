/// The lines under the table: legend, target, baselines, the summary sentence, errors and notes.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "outputs/comparison.h"
#include "outputs/text/language.h"

namespace simgrad::outputs {

/// The shades of the time bar: compute, communicate, wait, down.
inline constexpr std::array<std::string_view, 4> shades = {"█", "▓", "░", "×"};
inline constexpr std::array<std::string_view, 4> part_names = {translatable("compute"), translatable("communicate"),
                                                               translatable("wait"), translatable("down")};

/// Returns the lines under the table, none wider than `width`. bars_shown: whether the table has the time bar.
std::string table_footer(const Results& results, const Comparison& comparison, std::size_t width, bool bars_shown);

}  // namespace simgrad::outputs
