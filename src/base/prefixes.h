/// The prefixes of units, for reading and writing them.
#pragma once

#include <array>
#include <string_view>

namespace simgrad::base {

/// Multiplies a unit by 10^decimal * factor: decimal prefixes have the factor 1, binary ones the power 0.
struct Prefix {
  std::string_view text;
  int decimal = 0;
  double factor = 1.0;
};

inline constexpr std::array<Prefix, 7> decimal_prefixes{
    {{"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
inline constexpr std::array<Prefix, 6> binary_prefixes{
    {{"Ki", 0, 0x1p10}, {"Mi", 0, 0x1p20}, {"Gi", 0, 0x1p30}, {"Ti", 0, 0x1p40}, {"Pi", 0, 0x1p50}, {"Ei", 0, 0x1p60}}};
inline constexpr std::array<Prefix, 5> second_prefixes{{{"", 0}, {"m", -3}, {"u", -6}, {"n", -9}, {"p", -12}}};

}  // namespace simgrad::base
