/// Quantisation to whole multiples of a unit, one unit for each bucket of numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "training/compressors/compressor.h"

namespace simgrad::training {

/// The unit of a bucket's numbers: at least their largest size / levels, so that no multiple exceeds `levels`.
using Unit = std::function<double(std::span<const double> bucket)>;

/// Each x as sign(x) unit floor(|x| / unit + u). Uniform u in [0, 1) makes it unbiased, u = 1/2 the nearest multiple.
/// draws: the stream of the u; none: 1/2.  key: identifies the unit for value numbering.  Returns (n), with `bytes` as
/// its size.
values::Tensor in_levels(std::string_view name, std::span<const std::uint64_t> key, const values::Tensor& x,
                         std::int64_t bucket, const Unit& unit, std::optional<base::Stream::Key> draws,
                         std::int64_t bytes, values::Dispatcher& dispatcher);

/// The smallest number of single precision that is not below x >= 0.
double float32_above(double x);

/// The number of buckets of n numbers.
std::int64_t buckets(std::int64_t n, std::int64_t bucket);

}  // namespace simgrad::training
