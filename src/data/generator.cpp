#include "data/generator.h"

#include <fmt/format.h>

#include <array>

#include "base/errors.h"
#include "data/limits.h"

namespace simgrad::data {

base::Stream row_stream(std::uint64_t seed, std::int64_t row) {
  return base::Stream({.seed = seed, .purpose = base::Purpose::data, .step = static_cast<std::uint64_t>(row)});
}

base::Stream truth_stream(std::uint64_t seed) {
  return base::Stream({.seed = seed, .purpose = base::Purpose::data, .rank = 1});
}

namespace {

/// The words_of_tasks for a task: its targets, the generators for it, and the predictions of its models.
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

Dataset blank_dataset(std::string_view kind, Task made, const Request& request) {
  base::check(request.samples >= 1 && request.features >= 1, "a generator makes at least one sample of one feature");
  if (!serves(made, request.task)) throw base::ScenarioError(mismatch(kind, made, request.task));
  Dataset set = sized_dataset(request.samples, request.features, fmt::format("data source \"{}\"", kind));
  for (std::int64_t j = 1; j <= request.features; ++j) set.feature_names.push_back(fmt::format("feature_{}", j));
  return set;
}

}  // namespace simgrad::data
