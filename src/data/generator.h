/// The base class of data sources that generate their samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "data/source.h"

namespace simgrad::data {

/// A source that generates its samples. Row i is drawn from the stream of (seed, Purpose::data, step i), and the values
/// that all rows share (weights, centres) from another stream. So row i does not depend on the number of rows.
struct Generator : Source {
  bool generates() const final { return true; }
};

/// Whether samples made for one task serve another: clustering, which ignores targets, takes all samples but ratings
/// and texts.
constexpr bool serves(Task made, Task wanted) {
  return wanted == made || (wanted == Task::clustering && made != Task::recommendation && made != Task::text);
}

/// The stream of row i.
base::Stream row_stream(std::uint64_t seed, std::int64_t row);
/// The stream of the values that all rows share.
base::Stream truth_stream(std::uint64_t seed);

/// A data set of the requested shape, all zero, with features "feature_1", ...
/// Errors: ScenarioError if the task is not `made`, the task of the generator's samples, or if the data set is too
/// large.
Dataset blank_dataset(std::string_view kind, Task made, const Request& request);

}  // namespace simgrad::data
