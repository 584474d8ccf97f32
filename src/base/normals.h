/// Many normal draws at once.
#pragma once

#include <span>

#include "base/random.h"

namespace simgrad::base {

/// Fills x with the numbers that as many calls of stream.normal() would draw, in three quarters of their time. The
/// stream has drawn an even number of them before.
void fill_normals(Stream& stream, std::span<double> x);

}  // namespace simgrad::base
