/// Limits on a data set's size, checked before memory is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "base/errors.h"
#include "data/dataset.h"

namespace simgrad::data {

/// The most numbers a feature matrix may hold: 2^31 doubles are 16 GiB.
inline constexpr std::int64_t cells_most = std::int64_t{1} << 31;
/// The most features: their names take memory as well.
inline constexpr std::int64_t columns_most = std::int64_t{1} << 24;
/// The most values of a text column, and the most classes of a target.
inline constexpr std::size_t values_most = 1000;

/// The reason why a matrix of that shape is too large, or empty: "20 rows x 3000000000 columns would take 447.0 GiB;
/// the limits are 16 GiB and 16777216 columns".
std::string too_large(std::int64_t rows, std::int64_t columns);

/// The most entries of sparse rows: 2^32 keys are 16 GiB.
inline constexpr std::int64_t entries_most = std::int64_t{1} << 32;
/// The most sparse features: a key has 32 bits.
inline constexpr std::int64_t keys_most = std::int64_t{1} << 32;

/// The reason why so many sparse rows are too large, or empty.  nonzeros: entries in a row.
std::string too_large_sparse(std::int64_t rows, std::int64_t nonzeros, std::int64_t columns);

/// Refuses a dense matrix that is too large, or for which memory is short.
/// Errors: ScenarioError `<what>: too_large(...)`, or as base::require_memory.
void require_room(std::int64_t rows, std::int64_t columns, const std::string& what);

/// A data set of that shape without names. Its features are unset, its targets 0.  Errors: as require_room.
Dataset sized_dataset(std::int64_t rows, std::int64_t columns, const std::string& what);

/// The bytes of the numbers that it holds.
double held_bytes(const Split& data);

}  // namespace simgrad::data
