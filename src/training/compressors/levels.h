/// Numbers as whole multiples of a unit that a bucket of them shares.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "training/compressors/compressor.h"

namespace simgrad::training {

/// The unit of a bucket's numbers: at least their size / levels, so that no multiple is beyond that many levels.
using Unit = std::function<double(std::span<const double> bucket)>;

/// Every x as sign(x) unit floor(|x| / unit + u): u uniform in [0, 1) makes that right in the mean, 1/2 the nearest.
/// draws: of the u; none: 1/2.  key: what tells the unit from others.  Returns (n), weighing `bytes`.
values::Tensor in_levels(std::string_view name, std::span<const std::uint64_t> key, const values::Tensor& x,
                         std::int64_t bucket, const Unit& unit, std::optional<base::Stream::Key> draws,
                         std::int64_t bytes, values::Dispatcher& dispatcher);

/// The least number of single precision that is not below x >= 0.
double float32_above(double x);

/// How many buckets n numbers make.
std::int64_t buckets(std::int64_t n, std::int64_t bucket);

}  // namespace simgrad::training
