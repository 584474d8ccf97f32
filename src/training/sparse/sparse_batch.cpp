#include "training/sparse/sparse_batch.h"

#include <algorithm>

#include "training/sparse/sparse_learning.h"

namespace simgrad::training {

namespace {

constexpr std::int64_t starts_ahead = 24, rows_ahead = 12, keys_ahead = 1;
constexpr std::int64_t keys_a_line = 16;

/// Copies the rows' entries, with their keys numbered by first appearance.
void take_rows(const data::Dataset& set, const RowSet& rows, DistinctKeys& distinct, SparseBatch& batch) {
  const data::SparseRows& from = set.sparse;
  const auto row_at = [&](std::int64_t i) {
    return static_cast<std::size_t>(rows.indices.empty() ? rows.first + i : rows.indices[static_cast<std::size_t>(i)]);
  };
  const bool listed = !rows.indices.empty();
  std::int64_t entries = 0;
  for (std::int64_t i = 0; i < rows.count; ++i) entries += from.starts[row_at(i) + 1] - from.starts[row_at(i)];
  distinct.begin(entries);
  batch.count = rows.count;
  batch.starts.resize(static_cast<std::size_t>(rows.count) + 1);
  batch.local.resize(static_cast<std::size_t>(entries));
  if (!from.values.empty()) batch.values.reserve(static_cast<std::size_t>(entries));
  batch.targets.resize(static_cast<std::size_t>(rows.count));
  std::uint32_t* next = batch.local.data();
  for (std::int64_t i = 0; i < rows.count; ++i) {
    if (listed && i + rows_ahead < rows.count) {
      if (i + starts_ahead < rows.count) {
        __builtin_prefetch(from.starts.data() + row_at(i + starts_ahead));
        __builtin_prefetch(set.targets.data() + row_at(i + starts_ahead));
      }
      const std::size_t soon = row_at(i + rows_ahead);
      for (std::int64_t e = from.starts[soon]; e < from.starts[soon + 1] + keys_a_line; e += keys_a_line)
        __builtin_prefetch(from.keys.data() + e);
    }
    const std::size_t row = row_at(i);
    const std::int64_t first = from.starts[row], last = from.starts[row + 1];
    batch.starts[static_cast<std::size_t>(i) + 1] = batch.starts[static_cast<std::size_t>(i)] + last - first;
    batch.targets[static_cast<std::size_t>(i)] = set.targets[row];
    if (i + keys_ahead < rows.count) {
      const std::size_t soon = row_at(i + keys_ahead);
      for (std::int64_t e = from.starts[soon]; e < from.starts[soon + 1]; ++e)
        distinct.prefetch(from.keys[static_cast<std::size_t>(e)]);
    }
    distinct.number({from.keys.data() + first, static_cast<std::size_t>(last - first)}, next);
    next += last - first;
    if (!from.values.empty())
      batch.values.insert(batch.values.end(), from.values.begin() + first, from.values.begin() + last);
  }
}

/// The rows of several shares, one after the other.
RowSet rows_together(const Batches& batches, std::span<const Share> shares, std::vector<std::int64_t>& firsts) {
  firsts.push_back(0);
  RowSet all;
  for (const Share& share : shares) {
    RowSet share_rows = batches.rows(share);
    firsts.push_back(firsts.back() + share_rows.count);
    if (shares.size() == 1) return share_rows;
    if (share_rows.indices.empty())
      for (std::int64_t i = 0; i < share_rows.count; ++i) all.indices.push_back(share_rows.first + i);
    else
      all.indices.insert(all.indices.end(), share_rows.indices.begin(), share_rows.indices.end());
  }
  all.count = firsts.back();
  return all;
}

}  // namespace

std::shared_ptr<const SparseBatch> SparseLearning::batch(std::span<const Share> shares) {
  auto batch = std::make_shared<SparseBatch>();
  batch->step = shares.front().step;
  const RowSet rows = rows_together(learning_.batches(), shares, batch->shares);
  take_rows(learning_.data()->train, rows, distinct_, *batch);
  std::vector<std::uint32_t> found = distinct_.keys();
  batch->rows.reserve(static_cast<std::size_t>(options_.servers));
  if (options_.servers == 1 && hot_.empty()) {
    batch->keys = found;
    batch->firsts = {0, batch->distinct()};
    batch->rows.push_back(std::make_shared<const std::vector<std::uint32_t>>(std::move(found)));
    return batch;
  }
  number_by_server(*batch, found);
  return batch;
}

/// Hot keys have their numbers; the others are counted server by server.
void SparseLearning::number_by_server(SparseBatch& batch, const std::vector<std::uint32_t>& found) {
  const auto servers = static_cast<std::size_t>(options_.servers);
  std::vector<KeyShards::Place>& places = scratch_.places;
  std::vector<std::uint32_t>& renumbered = scratch_.renumbered;
  places.resize(found.size());
  renumbered.resize(found.size());
  std::vector<std::int64_t> counts(servers + 1, 0);
  constexpr int is_hot = -1;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto hot = hot_numbers_ ? hot_numbers_->find(found[i]) : std::nullopt;
    if (hot) renumbered[i] = *hot;
    places[i] = hot ? KeyShards::Place{is_hot, 0} : shards_.place(found[i]);
    if (!hot) ++counts[static_cast<std::size_t>(places[i].server) + 1];
  }
  for (std::size_t j = 0; j < servers; ++j) counts[j + 1] += counts[j];
  batch.firsts = counts;
  batch.keys.resize(static_cast<std::size_t>(counts.back()));
  std::vector<std::vector<std::uint32_t>> rows(servers);
  for (std::size_t j = 0; j < servers; ++j) rows[j].resize(static_cast<std::size_t>(counts[j + 1] - counts[j]));
  const auto hot_rows = static_cast<std::uint32_t>(hot_.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (places[i].server == is_hot) continue;
    const auto j = static_cast<std::size_t>(places[i].server);
    const std::int64_t at = counts[j]++;
    batch.keys[static_cast<std::size_t>(at)] = found[i];
    rows[j][static_cast<std::size_t>(at - batch.firsts[j])] = places[i].row;
    renumbered[i] = hot_rows + static_cast<std::uint32_t>(at);
  }
  for (std::uint32_t& key : batch.local) key = renumbered[key];
  for (std::vector<std::uint32_t>& each : rows)
    batch.rows.push_back(std::make_shared<const std::vector<std::uint32_t>>(std::move(each)));
}

std::shared_ptr<const SparseBatch> rows_of_share(const SparseBatch& batch, int share) {
  auto part = std::make_shared<SparseBatch>();
  const std::int64_t first = batch.shares[static_cast<std::size_t>(share)],
                     last = batch.shares[static_cast<std::size_t>(share) + 1];
  const auto entries =
      std::span(batch.starts).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first) + 1);
  const std::int64_t from = entries.front(), to = entries.back();
  part->step = batch.step;
  part->count = last - first;
  part->shares = {0, part->count};
  for (const std::int64_t start : entries) part->starts.push_back(start - from);
  part->local.assign(batch.local.begin() + from, batch.local.begin() + to);
  if (!batch.values.empty()) part->values.assign(batch.values.begin() + from, batch.values.begin() + to);
  part->targets.assign(batch.targets.begin() + first, batch.targets.begin() + last);
  part->keys = batch.keys;
  part->firsts = batch.firsts;
  part->rows = batch.rows;
  return part;
}

}  // namespace simgrad::training
