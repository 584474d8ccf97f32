/// The most of each amount of a sample that a table of layers or operators may give. Below them sums over layers,
/// batches and steps are finite.
#pragma once

namespace simgrad::models {

inline constexpr double flops_most = 1e30;
inline constexpr double bytes_most = 1e18;
inline constexpr double seconds_most = 1e9;
/// Parameters of all layers together: a double counts whole numbers up to here one by one.
inline constexpr double parameters_most = 9e15;

}  // namespace simgrad::models
