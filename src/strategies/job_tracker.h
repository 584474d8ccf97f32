/// The master of a MapReduce round: which worker maps which split, and whose result counts.
///
/// Source: J. Dean, S. Ghemawat, "MapReduce: Simplified Data Processing on Large Clusters", OSDI 2004 (backup tasks);
/// M. Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace simgrad::strategies {

/// Worker r begins with split r; who is through with one is given the next. Splits thus start in the order of their
/// numbers, and of those that are still mapped the one with the lowest number is the slowest.
class JobTracker {
 public:
  /// At least as many splits as workers.
  JobTracker(int workers, int splits, bool speculative);

  struct Order {
    bool accepted = false;     ///< whether the worker was the first with its split: then its result counts
    std::optional<int> split;  ///< what it maps next; nothing: it is idle until the next round
  };
  /// A worker is through with a split. If none is left to start, it maps a copy of the slowest that is still mapped by
  /// one worker alone, when that is wanted.
  Order finished(int split);

  /// Copies that were started so far.
  int copies() const { return copies_; }

 private:
  std::optional<int> next();

  struct Split {
    bool done = false;
    bool copied = false;
  };
  std::vector<Split> splits_;
  int started_;
  bool speculative_;
  int copies_ = 0;
};

}  // namespace simgrad::strategies
