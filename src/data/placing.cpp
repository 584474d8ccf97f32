#include "data/placing.h"

#include <algorithm>
#include <utility>

#include "data/sparse_rows.h"

namespace simgrad::data {

namespace {

/// A data set of these rows, without their numbers.
Dataset head_of(const Dataset& all, std::size_t rows, bool bias) {
  Dataset part;
  part.rows = static_cast<std::int64_t>(rows);
  part.columns = all.columns + (bias ? 1 : 0);
  part.classes = all.classes;
  part.users = all.users;
  part.items = all.items;
  part.vocabulary = all.vocabulary;
  part.loss_floor = all.loss_floor;
  part.feature_names = all.feature_names;
  part.target_name = all.target_name;
  part.class_names = all.class_names;
  part.notes = all.notes;
  part.in_time = all.in_time;
  if (all.sparse.any()) part.fields = bias ? 0 : all.fields;
  if (bias && !all.sparse.any()) part.feature_names.push_back("bias");
  return part;
}

void gather_targets(const Dataset& all, const std::vector<std::int64_t>& rows, Dataset& part) {
  part.targets.reserve(rows.size());
  for (const std::int64_t row : rows) part.targets.push_back(all.targets[static_cast<std::size_t>(row)]);
}

void gather_features_and_bias(const Dataset& all, const std::vector<std::int64_t>& rows, Dataset& part) {
  part.features.reserve(rows.size() * static_cast<std::size_t>(part.columns));
  for (const std::int64_t row : rows) {
    const auto x = all.row(row);
    part.features.insert(part.features.end(), x.begin(), x.end());
    part.features.push_back(1.0);
  }
}

/// Moves the rows within their matrix, so that place i has what row order[i] was: along each cycle of the permutation,
/// with one row laid aside.
void permute_rows(Dataset& all, const std::vector<std::int64_t>& order) {
  const auto row = [&](std::int64_t i) { return all.features.begin() + i * all.columns; };
  std::vector<bool> placed(order.size());
  std::vector<double> aside;
  for (std::size_t first = 0; first < order.size(); ++first) {
    if (placed[first] || order[first] == static_cast<std::int64_t>(first)) continue;
    const auto begin = static_cast<std::int64_t>(first);
    aside.assign(row(begin), row(begin + 1));
    std::int64_t place = begin;
    for (; order[static_cast<std::size_t>(place)] != begin; place = order[static_cast<std::size_t>(place)]) {
      std::copy_n(row(order[static_cast<std::size_t>(place)]), all.columns, row(place));
      placed[static_cast<std::size_t>(place)] = true;
    }
    std::ranges::copy(aside, row(place));
    placed[static_cast<std::size_t>(place)] = true;
  }
}

void move_features(Dataset& all, const RowsOfSets& order, Split& split) {
  std::vector<std::int64_t> both = order.train;
  both.insert(both.end(), order.test.begin(), order.test.end());
  permute_rows(all, both);
  const std::int64_t train = split.train.rows * all.columns;
  split.test.features.assign(all.features.begin() + train, all.features.end());
  split.train.features = std::move(all.features);
  split.train.features.resize(static_cast<std::size_t>(train));
}

}  // namespace

Split placed(Rows rows, const RowsOfSets& order, bool bias, int threads) {
  Dataset& all = rows.head;
  Split split{.train = head_of(all, order.train.size(), bias), .test = head_of(all, order.test.size(), bias)};
  if (rows.make) {
    make_rows(rows.make, order.train, all.columns, threads, split.train);
    make_rows(rows.make, order.test, all.columns, threads, split.test);
    return split;
  }
  gather_targets(all, order.train, split.train);
  gather_targets(all, order.test, split.test);
  if (all.sparse.any()) {
    split.train.sparse = chosen_rows(all, order.train, bias);
    split.test.sparse = chosen_rows(all, order.test, bias);
  } else if (bias) {
    gather_features_and_bias(all, order.train, split.train);
    gather_features_and_bias(all, order.test, split.test);
  } else {
    move_features(all, order, split);
  }
  return split;
}

}  // namespace simgrad::data
