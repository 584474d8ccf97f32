/// One rank's share of a step's batch, with its keys numbered anew: those of the hot rows first, then each server's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/sparse_model.h"
#include "training/sparse/sparse_table.h"

namespace simgrad::training {

/// The bytes of a key's number in a message: there are fewer than 2^32 keys.
inline constexpr std::int64_t key_bytes = 4;

struct SparseBatch {
  std::int64_t step = 0;
  std::int64_t count = 0;            ///< rows
  std::vector<std::int64_t> shares;  ///< (shares + 1): the first row of each share
  std::vector<std::int64_t> starts;  ///< (count + 1)
  std::vector<std::uint32_t> local;  ///< an entry's key, by its new number
  std::vector<double> values;        ///< empty: all are 1
  std::vector<double> targets;
  std::vector<std::uint32_t> keys;   ///< keys that are not hot, server after server, by new number - hot
  std::vector<std::int64_t> firsts;  ///< (servers + 1): the beginning of each server's in `keys`
  std::vector<TableRows> rows;       ///< by server: its keys' rows in its table

  std::int64_t entries() const { return static_cast<std::int64_t>(local.size()); }
  std::int64_t distinct() const { return static_cast<std::int64_t>(keys.size()); }
  models::Samples samples(std::int64_t columns) const {
    return {.targets = targets.data(),
            .columns = columns,
            .count = count,
            .starts = starts.data(),
            .keys = local.data(),
            .values = values.empty() ? nullptr : values.data()};
  }
};

/// The rows of one of its shares, with the keys of all, numbered as they are there.
std::shared_ptr<const SparseBatch> rows_of_share(const SparseBatch& batch, int share);

}  // namespace simgrad::training
