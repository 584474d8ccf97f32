/// The rows of a table that one rank holds, with the dense parameters that it holds beside them, changed in place.
///
/// Reads and updates are dispatched; each update waits for the one before and for all reads since, so they happen in
/// the order of the calls, whatever the threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "training/optimizers/optimizer.h"
#include "training/sparse/distinct_keys.h"
#include "training/sparse/store.h"
#include "values/dispatcher.h"

namespace simgrad::training {

/// Rows of a table, by their places in it.
using TableRows = std::shared_ptr<const std::vector<std::uint32_t>>;

class SparseTable final : public Store {
 public:
  /// start: (rows x width + dense) numbers, the rows' first; and the optimizer's memory where it has one.
  /// optimizer: sgd or adagrad.
  SparseTable(values::Dispatcher& dispatcher, const Optimizer& optimizer, std::int64_t width, std::int64_t dense,
              State start);
  ~SparseTable() override;

  /// The rows' numbers, then the dense ones.  Returns (rows x width + dense).
  values::Tensor read(const TableRows& rows) const;

  /// A part of an update: these rows' gradients, then the dense parameters'.
  struct Part {
    TableRows rows;
    values::Tensor g;
  };
  /// One update by the sum of the parts, times a factor, at that learning rate; a row that several parts have is
  /// updated once. Returns how many numbers changed.
  std::int64_t update(std::vector<Part> parts, double lr, double factor = 1.0);

  /// Until the first update the start itself: nothing is copied.
  State state() const override;

  /// The reason why the optimizer cannot update rows alone, or null.
  static const char* refusal(const Optimizer& optimizer);

 private:
  struct Numbers;
  values::Tensor copy(bool memory) const;

  values::Dispatcher& dispatcher_;
  std::int64_t width_, dense_, size_;
  std::optional<DistinctKeys> distinct_;       ///< rows of several parts
  std::vector<values::Tensor> start_;          ///< w, then adagrad's sums of squares; none after an update
  std::shared_ptr<Numbers> numbers_;           ///< only kernels read and write it
  mutable std::vector<values::Tensor> since_;  ///< the last update, and all reads since
};

/// A table that several workers read and update.
struct SharedTable {
  std::shared_ptr<SparseTable> table;
  std::int64_t step = 0;  ///< its updates
};

}  // namespace simgrad::training
