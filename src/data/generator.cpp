#include "data/generator.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "data/limits.h"

namespace simgrad::data {

base::Stream row_stream(std::uint64_t seed, std::int64_t row) {
  return base::Stream({.seed = seed, .purpose = base::Purpose::data, .step = static_cast<std::uint64_t>(row)});
}

base::Stream truth_stream(std::uint64_t seed) {
  return base::Stream({.seed = seed, .purpose = base::Purpose::data, .rank = 1});
}

Dataset blank_dataset(std::string_view kind, Task made, const Request& request) {
  base::check(request.samples >= 1 && request.features >= 1, "a generator makes at least one sample of one feature");
  if (made == Task::classification && request.task == Task::regression)
    throw base::ScenarioError(
        fmt::format("data source \"{}\" makes classes, but the model predicts a number; use \"house_prices\", or a "
                    "model that predicts classes",
                    kind));
  if (made == Task::regression && request.task == Task::classification)
    throw base::ScenarioError(
        fmt::format("data source \"{}\" makes numbers, but the model predicts classes; use \"logistic\" or \"blobs\", "
                    "or a model that predicts a number",
                    kind));
  Dataset set = sized_dataset(request.samples, request.features, fmt::format("data source \"{}\"", kind));
  for (std::int64_t j = 1; j <= request.features; ++j) set.feature_names.push_back(fmt::format("feature_{}", j));
  return set;
}

}  // namespace simgrad::data
