#include "training/learning/batches.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/random.h"
#include "training/partitions/proportions.h"

namespace simgrad::training {

using base::Permutation;
using base::Purpose;

/// The deal to P ranks.
struct Batches::Dealt {
  DataShards shards;
  std::vector<std::int64_t> batch_starts;  ///< the batch's shares by speed; else empty
};

struct Batches::Table {
  std::mutex mutex;
  std::map<int, Dealt> by_parts;  // a map's elements stay where they are
};

Batches::Batches(Options options) : options_(std::move(options)), table_(std::make_shared<Table>()) {}

const DataShards& Batches::shards(int parts) const { return dealt(parts).shards; }

const Batches::Dealt& Batches::dealt(int parts) const {
  const std::lock_guard lock(table_->mutex);
  const auto found = table_->by_parts.find(parts);
  if (found != table_->by_parts.end()) return found->second;
  Owned owned{.rows = options_.rows, .classes = {}, .seed = options_.seed};
  if (options_.labelled && options_.labelled->classes > 0) owned.classes = options_.labelled->targets;
  Dealt made;
  std::vector<double> rows_of_parts;
  if (by_speed(parts)) {
    owned.speeds = options_.speeds;
    made.batch_starts = apportioned(options_.batch, options_.speeds, options_.most_rows, options_.rows_unit);
  }
  if (!made.batch_starts.empty() && (!options_.most_rows.empty() || options_.rows_unit > 1)) {
    for (std::size_t r = 0; r + 1 < made.batch_starts.size(); ++r)
      rows_of_parts.push_back(static_cast<double>(made.batch_starts[r + 1] - made.batch_starts[r]));
    owned.speeds = rows_of_parts;  // a shard is in proportion to its share of a batch
  }
  made.shards = options_.partition->shards(owned, parts);
  return table_->by_parts.emplace(parts, std::move(made)).first->second;
}

std::int64_t Batches::count_of_shard(const DataShards& shards, int part, int parts) const {
  if (full()) return shards.size(part);
  if (shards.even) return stretch(options_.batch, part + 1, parts) - stretch(options_.batch, part, parts);
  // A row each, then by the rows beyond the first.
  const std::int64_t each = options_.batch >= parts ? 1 : 0;
  const std::int64_t dealt = options_.batch - each * parts;
  const std::int64_t beyond = options_.rows - each * parts;
  const auto until = [&](int r) {
    return static_cast<std::int64_t>(static_cast<__int128>(dealt) *
                                     (shards.starts[static_cast<std::size_t>(r)] - each * r) / beyond);
  };
  return each + until(part + 1) - until(part);
}

/// The place in a step's batch where a rank's share begins.
std::int64_t Batches::first_of_batch(int part, int parts) const {
  return by_speed(parts) ? dealt(parts).batch_starts[static_cast<std::size_t>(part)]
                         : stretch(options_.batch, part, parts);
}

std::int64_t Batches::count(int part, int parts) const {
  if (by_speed(parts)) {
    const auto& starts = dealt(parts).batch_starts;
    return starts[static_cast<std::size_t>(part) + 1] - starts[static_cast<std::size_t>(part)];
  }
  if (!options_.partition->shared()) return count_of_shard(shards(parts), part, parts);
  return stretch(options_.batch, part + 1, parts) - stretch(options_.batch, part, parts);
}

std::int64_t Batches::rows_of(int part, int parts) const {
  if (!options_.partition->shared()) return shards(parts).size(part);
  const std::optional<Inflow> inflow = options_.partition->inflow();
  const std::int64_t rows = inflow ? inflow->window : options_.rows;
  return stretch(rows, part + 1, parts) - stretch(rows, part, parts);
}

std::int64_t Batches::arrived(double elapsed_s) const {
  const std::optional<Inflow> inflow = options_.partition->inflow();
  if (!inflow) return options_.rows;
  const auto later = static_cast<double>(options_.rows - 2 * inflow->window);
  return inflow->window + static_cast<std::int64_t>(later * std::min(1.0, elapsed_s / inflow->duration_s));
}

RowSet Batches::next(double elapsed_s) const { return {arrived(elapsed_s), options_.partition->inflow()->window, {}}; }

/// This rank's share of a permutation, another in each step, of the last rows to arrive.
RowSet Batches::latest_rows(const Share& share) const {
  const std::int64_t arrived = share.arrived.value_or(options_.rows);
  const std::int64_t window = options_.partition->inflow()->window;
  const Permutation order(
      {.seed = options_.seed, .purpose = Purpose::batch, .step = static_cast<std::uint64_t>(share.step)},
      static_cast<std::uint64_t>(window));
  RowSet set{0, count(share.part, share.parts), {}};
  const std::int64_t offset = first_of_batch(share.part, share.parts);
  for (std::int64_t i = 0; i < set.count; ++i)
    set.indices.push_back(arrived - window + static_cast<std::int64_t>(order(static_cast<std::uint64_t>(offset + i))));
  return set;
}

std::int64_t MicroBatch::first(std::int64_t rows) const { return stretch(rows, part, parts); }
std::int64_t MicroBatch::count(std::int64_t rows) const { return stretch(rows, part + 1, parts) - first(rows); }

RowSet Batches::rows(const Share& share) const {
  RowSet set = rows_of_step(share);
  const std::int64_t from = share.micro.first(set.count), count = share.micro.count(set.count);
  if (set.indices.empty()) return {set.first + from, count, {}};
  const auto begin = set.indices.begin() + from;
  return {0, count, {begin, begin + count}};
}

/// The rows of all of the share's micro-batches.
RowSet Batches::rows_of_step(const Share& share) const {
  if (options_.partition->inflow()) return latest_rows(share);
  const std::int64_t step = share.step;
  const int part = share.part, parts = share.parts;
  // Rows are drawn from a pool; a step uses up `used` of them, and this rank's share of those begins at `offset`.
  const bool iid = options_.partition->shared();
  const DataShards* const owned = iid ? nullptr : &shards(parts);
  const std::int64_t count = this->count(share.part, share.parts);
  const std::int64_t from = iid ? 0 : owned->first(part);
  const std::int64_t pool = iid ? options_.rows : owned->size(part);
  const std::int64_t used = iid ? options_.batch : count;
  const std::int64_t offset = iid ? first_of_batch(part, parts) : 0;
  const bool listed = !iid && !owned->rows.empty();
  if (pool == 0) return {0, 0, {}};
  if (full() && !listed) return {iid ? offset : from, count, {}};

  RowSet set{0, count, {}};
  set.indices.reserve(static_cast<std::size_t>(count));
  const auto row_at = [&](std::int64_t place) { return listed ? owned->rows[static_cast<std::size_t>(place)] : place; };
  if (full()) {
    for (std::int64_t i = 0; i < count; ++i) set.indices.push_back(row_at(from + i));
    return set;
  }
  const std::uint32_t drawn_by = iid ? 0u : static_cast<std::uint32_t>(part) + 1u;
  const auto order = [&](std::int64_t epoch) {
    return Permutation(
        {.seed = options_.seed, .purpose = Purpose::batch, .step = static_cast<std::uint64_t>(epoch), .rank = drawn_by},
        static_cast<std::uint64_t>(pool));
  };
  std::int64_t place = step * used + offset;
  std::int64_t epoch = place / pool;
  Permutation permutation = order(epoch);
  for (std::int64_t i = 0; i < count; ++i, ++place) {
    if (place / pool != epoch) permutation = order(++epoch);
    set.indices.push_back(
        row_at(from + static_cast<std::int64_t>(permutation(static_cast<std::uint64_t>(place % pool)))));
  }
  return set;
}

}  // namespace simgrad::training
