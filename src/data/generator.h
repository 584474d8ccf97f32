/// What data sources that make their samples have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "data/source.h"

namespace simgrad::data {

/// Row i is drawn from the stream of (seed, Purpose::data, step i), and what all rows share (weights, centres) from
/// another: row i is the same however many rows there are.
struct Generator : Source {
  bool generates() const final { return true; }
};

/// Without regard to their targets, all samples but ratings can be clustered.
constexpr bool serves(Task made, Task wanted) {
  return wanted == made || (wanted == Task::clustering && made != Task::recommendation);
}

/// The stream of row i.
base::Stream row_stream(std::uint64_t seed, std::int64_t row);
/// The stream of what all rows share.
base::Stream truth_stream(std::uint64_t seed);

/// An empty data set of the wanted shape with features "feature_1", ...
/// Errors: ScenarioError if a generator that makes `made` is asked for the other task, or for too much.
Dataset blank_dataset(std::string_view kind, Task made, const Request& request);

}  // namespace simgrad::data
