/// The notes of messages between the master of a MapReduce round and its workers.
#pragma once

#include <cstdint>
#include <optional>

namespace simgrad::strategies {

/// A worker has mapped a split of that round, and asks whether its result is wanted.
struct SplitReport {
  std::int64_t step = 0;
  std::int64_t split = 0;
};

/// The answer, or an order by itself: the split that the worker maps next, if there is any.
struct SplitOrder {
  static constexpr int none = -1;
  std::int64_t step = 0;
  int number = none;
  bool accepted = false;  ///< whether the result of the split that was reported is wanted

  std::optional<int> split() const { return number == none ? std::nullopt : std::optional(number); }
};

/// Beside a result: the number of its split.
struct SplitResult {
  std::int64_t step = 0;
  std::int64_t split = 0;
};

/// A worker that has come back asks for the present round's parameters, and an order.
struct JoinRound {};

}  // namespace simgrad::strategies
