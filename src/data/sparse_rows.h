/// Operations on sparse rows between a source and training.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace simgrad::data {

/// The given rows in the given order; with `bias` each has a last entry of 1 in a column of its own.
SparseRows chosen_rows(const Dataset& all, const std::vector<std::int64_t>& rows, bool bias);

/// The data set with sparse rows: its zeros are left out.
void make_sparse(Dataset& set);

/// The number of entries in every row if all rows have the same number, else 0.
std::int64_t common_length(const SparseRows& rows);

}  // namespace simgrad::data
