/// The base class of data sources that generate their samples.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
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

/// Writes the features of a row of the source.  x: (features).  Returns the row's target. Called by several threads at
/// once; throws nothing.
using RowMaker = std::function<double(std::int64_t row, std::span<double> x)>;

/// The rows of a request, before they are made: any of them can be, in any order.
struct Rows {
  Dataset head;  ///< everything but the numbers
  RowMaker make;
};

/// A generator of dense rows, each of which is made where it will stay. It outlives the Rows.
struct RowGenerator : Generator {
  const RowGenerator* row_generator() const final { return this; }
  virtual Rows rows(const Request& request) const = 0;
  Dataset load(const Request& request) const final;
};

/// Makes these rows in this order, and gives room to them. Columns behind the features are constant ones.
void make_rows(const RowMaker& make, std::span<const std::int64_t> rows, std::int64_t features, int threads,
               Dataset& set);

/// Whether samples made for one task serve another: clustering, which ignores targets, takes all samples but ratings
/// and texts.
constexpr bool serves(Task made, Task wanted) {
  return wanted == made || (wanted == Task::clustering && made != Task::recommendation && made != Task::text);
}

/// The stream of row i.
base::Stream row_stream(std::uint64_t seed, std::int64_t row);
/// The stream of the values that all rows share.
base::Stream truth_stream(std::uint64_t seed);

/// A data set of the requested shape with features "feature_1", ..., but without numbers.
/// Errors: ScenarioError if the task is not `made`, the task of the generator's samples, or if the data set is too
/// large.
Dataset blank_head(std::string_view kind, Task made, const Request& request);

}  // namespace simgrad::data
