/// The steps from a source to the training and test sets: load, split, standardise, bias, shuffle.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "base/random.h"
#include "data/encoding.h"
#include "data/generator.h"
#include "data/mixture.h"
#include "data/placing.h"
#include "data/source.h"
#include "data/sparse_rows.h"
#include "data/standardize.h"

namespace simgrad::data {

namespace {

/// The rows for training and for testing, both in the source's order. A permutation drawn from the seed selects the
/// test rows.
RowsOfSets split_rows(std::int64_t rows, double test_fraction, std::uint64_t seed) {
  const std::int64_t tests = std::llround(test_fraction * static_cast<double>(rows));
  if (tests == rows || (tests == 0 && test_fraction > 0.0))
    throw base::ScenarioError(fmt::format("test_fraction = {} of {} row{} leaves no row to {}, expected at least one",
                                          test_fraction, rows, rows == 1 ? "" : "s",
                                          tests == 0 ? "test on" : "train on"));
  const base::Permutation place({.seed = seed, .purpose = base::Purpose::split}, static_cast<std::uint64_t>(rows));
  RowsOfSets parts;
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool test = tests > 0 && place(static_cast<std::uint64_t>(row)) < static_cast<std::uint64_t>(tests);
    (test ? parts.test : parts.train).push_back(row);
  }
  return parts;
}

std::vector<std::int64_t> shuffled(const std::vector<std::int64_t>& rows, std::uint64_t seed) {
  const base::Permutation place({.seed = seed, .purpose = base::Purpose::shuffle}, rows.size());
  std::vector<std::int64_t> moved(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) moved[i] = rows[static_cast<std::size_t>(place(i))];
  return moved;
}

}  // namespace

Split load(const Options& options, const Preparation& preparation) {
  if (const std::string fault = task_refusal(options, preparation.task); !fault.empty())
    throw base::ScenarioError(fault);
  if (const Mixture* const mixture = options.source->mixture()) return load_mixture(*mixture, options, preparation);
  const Request request{.task = preparation.task,
                        .seed = preparation.seed,
                        .samples = options.samples_made(),
                        .features = options.features_made(),
                        .sparse = preparation.sparse};
  const RowGenerator* const generator = options.source->row_generator();
  Rows rows = generator ? generator->rows(request) : Rows{.head = options.source->load(request), .make = {}};
  const Dataset& all = rows.head;
  const std::int64_t columns = all.columns;
  auto encoding = std::make_shared<Encoding>(all.encoding ? *all.encoding : plain_encoding(all, preparation.task));
  RowsOfSets parts = split_rows(all.rows, options.test_fraction, preparation.seed);
  if (preparation.shuffle && !all.in_time) parts.train = shuffled(parts.train, preparation.seed);
  Split split = placed(std::move(rows), parts, preparation.bias, preparation.threads);

  const bool ratings = preparation.task == Task::recommendation;
  // Users, items and tokens are not quantities, and sparse rows must keep their zeros.
  if (options.standardize && !ratings && preparation.task != Task::text && !split.train.sparse.any()) {
    const std::int64_t stride = split.train.columns;
    encoding->scaling =
        scaling_of(split.train.features, columns, stride, split.train.feature_names, preparation.threads);
    rescale(split.train.features, stride, encoding->scaling, preparation.threads);
    rescale(split.test.features, stride, encoding->scaling, preparation.threads);
  }
  if (options.standardize_target && (preparation.task == Task::regression || ratings)) {
    encoding->target_scaling = scaling_of(split.train.targets, 1, 1, {split.train.target_name});
    rescale(split.train.targets, 1, encoding->target_scaling);
    rescale(split.test.targets, 1, encoding->target_scaling);
  }
  if (preparation.sparse && !split.train.sparse.any()) {
    make_sparse(split.train);
    make_sparse(split.test);
  }
  encoding->features = columns;
  encoding->vocabulary = split.train.vocabulary;
  encoding->user_count = split.train.users;
  encoding->item_count = split.train.items;
  encoding->bias = preparation.bias;
  encoding->sparse = split.train.sparse.any();
  encoding->fields = split.train.fields;
  encoding->class_names = split.train.class_names;
  split.encoding = std::move(encoding);
  return split;
}

}  // namespace simgrad::data
