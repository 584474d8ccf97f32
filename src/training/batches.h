/// Which rows a rank's gradient of a step is taken over: a function of (seed, step), never of who asked before.
#pragma once

#include <cstdint>
#include <vector>

#include "training/options.h"

namespace simgrad::training {

/// Rows of one rank in one step: a contiguous range, or the rows named one by one.
struct RowSet {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::vector<std::int64_t> indices;  ///< empty: the range
};

/// Deals the rows of every step to P ranks. Copying it is cheap.
///
/// Full batch: rank r has the r-th of P stretches (the rows were shuffled when they were loaded, if the partition is
/// iid). Minibatches: epoch after epoch a new permutation, dealt out in order, so that an epoch sees every row once.
class Batches {
 public:
  struct Options {
    std::int64_t rows = 0;    ///< of the training set
    std::int64_t batch = 0;   ///< a step's rows over all ranks; at most `rows`
    Partition partition = Partition::iid;
    std::uint64_t seed = 1;
  };
  explicit Batches(const Options& options) : options_(options) {}

  std::int64_t batch() const { return options_.batch; }
  /// How many rows part r of P has; parts differ by at most one row.
  std::int64_t count(int part, int parts) const;
  RowSet rows(std::int64_t step, int part, int parts) const;
  bool full() const { return options_.batch == options_.rows; }

 private:
  Options options_;
};

/// Where the r-th of P nearly equal stretches of n things starts.
constexpr std::int64_t stretch(std::int64_t n, std::int64_t part, std::int64_t parts) { return n * part / parts; }

}  // namespace simgrad::training
