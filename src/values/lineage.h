/// The lineage of a tensor: a hash of all operations and constants that its numbers follow from, whether or not they
/// are computed.
///
/// Tensors of equal lineage have equal numbers, in every run of one training problem (its data, model and seed, which
/// operations read beside their operands). So a number that one run has computed is known to a run that only simulates
/// its timeline. The hash has 128 bits: among a billion tensors two different ones collide with probability 1e-21.
#pragma once

#include <cstdint>
#include <span>

#include "base/hash.h"
#include "values/wire_format.h"

namespace simgrad::values {

class Tensor;
struct Operation;

/// All zero: unknown, because the dispatcher follows none, or an operation on the way is not numbered.
using Lineage = base::Digest;

/// The lineage of an operation's result of this size.
Lineage lineage_of(const Operation& operation, std::int64_t size, std::span<const Tensor> inputs);
Lineage lineage_of_constant(std::span<const double> numbers);
/// The lineage of elements of a tensor in a wire format.
Lineage lineage_of_view(const Lineage& whole, std::int64_t first, std::int64_t count, const WireFormat& wire);

}  // namespace simgrad::values
