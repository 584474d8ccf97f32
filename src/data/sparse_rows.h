/// What becomes of sparse rows between a source and training.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace simgrad::data {

/// These rows in this order, each with a last entry of 1 in a column of its own when `bias`.
SparseRows chosen_rows(const Dataset& all, const std::vector<std::int64_t>& rows, bool bias);

/// The same data with the zeros left out.
void make_sparse(Dataset& set);

/// The entries that every row has, if all have as many; else 0.
std::int64_t common_length(const SparseRows& rows);

}  // namespace simgrad::data
