/// Orthonormal columns.
#pragma once

#include <cstddef>
#include <span>

namespace simgrad::training {

/// Replaces the columns of a row-major matrix by orthonormal ones that span at least the same space; a column that
/// depends on those before it is replaced by a unit vector's remainder.  a: (rows x columns), columns <= rows. Source:
/// A. Bjorck, "Numerics of Gram-Schmidt orthogonalization", 1994 (the modified algorithm, each column twice).
void orthonormalize(std::span<double> a, std::size_t rows, std::size_t columns);

}  // namespace simgrad::training
