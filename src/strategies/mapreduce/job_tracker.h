/// The order of splits in a MapReduce round: the worker that maps each split, and the result that counts.
///
/// Source: J. Dean, S. Ghemawat, "MapReduce: Simplified Data Processing on Large Clusters", OSDI 2004 (backup tasks);
/// M. Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace simgrad::strategies {

/// Worker r begins with split r; a worker that has mapped one is given the next. So splits start in the order of their
/// numbers, and among those that are still mapped the lowest number has been mapped for longest.
class JobTracker {
 public:
  /// At least as many splits as workers.  slow_factor: with copies, and then a split is slow once it has been mapped
  /// for that many times the median of the splits that are done.  now: virtual seconds, as below.
  JobTracker(int workers, int splits, std::optional<double> slow_factor, double now);

  struct Order {
    bool accepted = false;     ///< whether the worker was the first with its split: then its result counts
    std::optional<int> split;  ///< the next to map; nothing: the worker is idle until a copy, or the next round
  };
  /// A worker has mapped its split. If no split is left to start, the worker maps a copy of a slow one, if there is
  /// any.
  Order finished(int worker, double now);

  /// The split's result has arrived: its worker may be lost from now on.
  void received(int split) { splits_.at(static_cast<std::size_t>(split)).received = true; }
  /// A worker is lost, with the split that it was mapping and the splits whose results have not arrived (lineage: their
  /// rows can be read again). They are mapped again, before others begin. Returns the idle workers that begin at once.
  struct Copy {
    int worker = 0;
    int split = 0;
  };
  std::vector<Copy> lost(int worker, double now);
  /// A worker is back. Returns the split that it maps, if there is any.
  std::optional<int> back(int worker, double now) { return assign(worker, now); }

  /// The time at which an idle worker is to map a copy of a slow split; nothing without either.
  std::optional<double> next_copy_at() const;
  /// To be called at that time or later. Returns the worker that has been idle for longest, and its split.
  Copy start_copy(double now);

 private:
  struct Split {
    double start = 0.0;
    bool done = false;
    bool copied = false;
    bool received = false;
    int by = -1;  ///< the worker whose result counts, once it is done
  };
  struct Attempt {
    int split = 0;
    double start = 0.0;
    bool under_way = false;
  };
  /// The split to begin next: splits of lost workers, then those that were never begun.
  std::optional<int> take_next();
  /// Gives the worker the next split; it is idle if there is none.
  std::optional<int> assign(int worker, double now);
  /// The split that has been mapped for longest, by one worker alone.
  std::optional<int> longest() const;
  int begin(int worker, int split, double now);

  std::vector<Split> splits_;
  std::vector<Attempt> attempts_;  ///< each worker's present or last
  std::deque<int> idle_;
  std::deque<int> again_;     ///< splits of lost workers
  std::vector<double> took_;  ///< by the splits that are done, in ascending order
  int started_;
  std::optional<double> slow_factor_;
};

}  // namespace simgrad::strategies
