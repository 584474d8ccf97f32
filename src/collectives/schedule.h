/// A collective as a table: in each round, each member's target, source and stretches of the vector.
///
/// The one description of an algorithm. It gives the messages (run.h) and, where nothing else is on its links, every
/// member's end time without a message being sent (timed_schedule.h).
#pragma once

#include <array>

#include "collectives/split.h"

namespace simgrad::collectives {

/// One member's part in one round: it sends and receives at once, waits for both, then keeps what it received, or
/// combines it with what it has.
struct Exchange {
  static constexpr int nobody = -1;
  int target = nobody;
  Stretch sent = {};
  int source = nobody;
  Stretch received = {};
  bool reduce = false;
};

class Schedule {
 public:
  explicit Schedule(Split split) : split_(std::move(split)) {}
  virtual ~Schedule() = default;

  /// The chunks that the algorithm deals in, one a member unless it says otherwise.
  const Split& split() const { return split_; }
  virtual int rounds() const = 0;
  virtual Exchange exchange(int round, int member) const = 0;
  /// Whether members have a second exchange in a round, with others, at the same time: `beside`.
  virtual bool goes_two_ways() const { return false; }
  virtual Exchange beside(int /*round*/, int /*member*/) const { return {}; }
  /// Both exchanges.
  std::array<Exchange, 2> exchanges(int round, int member) const {
    return {exchange(round, member), goes_two_ways() ? beside(round, member) : Exchange{}};
  }

  /// The part of the vector that a member has at the beginning, and the part it is left with.
  virtual Stretch brings(int /*member*/) const { return split_.whole(); }
  virtual Stretch keeps(int /*member*/) const { return split_.whole(); }
  /// The bytes of the largest part that a member has at the beginning.
  virtual std::int64_t largest_input() const { return split_.bytes(split_.whole()); }

 private:
  Split split_;
};

}  // namespace simgrad::collectives
