#include "data/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "data/blocks_of_rows.h"
#include "data/limits.h"

namespace simgrad::data {

base::Stream row_stream(std::uint64_t seed, std::int64_t row) {
  return base::Stream({.seed = seed, .purpose = base::Purpose::data, .step = static_cast<std::uint64_t>(row)});
}

base::Stream truth_stream(std::uint64_t seed) {
  return base::Stream({.seed = seed, .purpose = base::Purpose::data, .rank = 1});
}

namespace {

/// The words for a task: its targets, the generators for it, and the predictions of its models.
struct Words {
  std::string_view targets, sources, models;
};
constexpr std::array<Words, 6> words_of_tasks{
    {{"numbers", "\"house_prices\"", "a number"},
     {"classes", "\"logistic\" or \"blobs\"", "classes"},
     {"ratings", "\"ratings\"", "ratings of items by users"},
     {"points", "\"blobs\"", "clusters"},
     {"sequences of tokens", "\"markov\" or \"text\"", "tokens of a text"},
     {"rows of several sources", "\"mixture\"", "the targets of several sources"}}};

std::string mismatch(std::string_view kind, Task made, Task wanted) {
  const Words& makes = words_of_tasks[static_cast<std::size_t>(made)];
  const Words& wants = words_of_tasks[static_cast<std::size_t>(wanted)];
  return fmt::format("data source \"{}\" makes {}, but the model predicts {}; use {}, or a model that predicts {}",
                     kind, makes.targets, wants.models, wants.sources, makes.models);
}

}  // namespace

void make_rows(const RowMaker& make, std::span<const std::int64_t> rows, std::int64_t features, int threads,
               Dataset& set) {
  const auto width = static_cast<std::size_t>(set.columns), made = static_cast<std::size_t>(features);
  set.features.resize(rows.size() * width);
  set.targets.resize(rows.size());
  in_blocks_of_rows(threads, rows.size(), width, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      const std::span<double> row(set.features.data() + i * width, width);
      set.targets[i] = make(rows[i], row.first(made));
      std::ranges::fill(row.subspan(made), 1.0);
    }
  });
}

Dataset RowGenerator::load(const Request& request) const {
  Rows made = rows(request);
  Dataset set = std::move(made.head);
  std::vector<std::int64_t> all(static_cast<std::size_t>(set.rows));
  std::iota(all.begin(), all.end(), 0);
  make_rows(made.make, all, set.columns, 1, set);
  return set;
}

Dataset blank_head(std::string_view kind, Task made, const Request& request) {
  base::check(request.samples >= 1 && request.features >= 1, "a generator makes at least one sample of one feature");
  if (!serves(made, request.task)) throw base::ScenarioError(mismatch(kind, made, request.task));
  require_room(request.samples, request.features, fmt::format("data source \"{}\"", kind));
  Dataset set;
  set.rows = request.samples;
  set.columns = request.features;
  for (std::int64_t j = 1; j <= request.features; ++j) set.feature_names.push_back(fmt::format("feature_{}", j));
  return set;
}

}  // namespace simgrad::data
