/// The master of a MapReduce round: which worker maps which split, and whose result counts.
///
/// Source: J. Dean, S. Ghemawat, "MapReduce: Simplified Data Processing on Large Clusters", OSDI 2004 (backup tasks);
/// M. Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace simgrad::strategies {

/// Worker r begins with split r; who is through with one is given the next. Splits thus start in the order of their
/// numbers, and of those that are still mapped the one with the lowest number has been so for longest.
class JobTracker {
 public:
  /// At least as many splits as workers.  slow_factor: with copies, and then a split is slow once it has been mapped
  /// for that many times the median of the splits that are done.  now: virtual seconds, as below.
  JobTracker(int workers, int splits, std::optional<double> slow_factor, double now);

  struct Order {
    bool accepted = false;     ///< whether the worker was the first with its split: then its result counts
    std::optional<int> split;  ///< what it maps next; nothing: it is idle until it is given a copy, or the next round
  };
  /// A worker is through with its split. If none is left to start, it maps a copy of one that is slow, if any is.
  Order finished(int worker, double now);

  /// The split's result is there: whoever mapped it may be lost.
  void received(int split) { splits_.at(static_cast<std::size_t>(split)).received = true; }
  /// A worker is lost, and what it was mapping with it, and what it had mapped whose result is not there yet (lineage:
  /// the rows are still to be had). Those splits are mapped again, before others begin. Which idle workers begin at
  /// once.
  struct Copy {
    int worker = 0;
    int split = 0;
  };
  std::vector<Copy> lost(int worker, double now);
  /// It is back, and has nothing to do yet: what it maps, if there is anything.
  std::optional<int> back(int worker, double now) { return assign(worker, now); }

  /// When there is an idle worker and a split to give it a copy of.
  std::optional<double> next_copy_at() const;
  /// To be called at that time or later: the worker that has been idle for longest, and what it maps.
  Copy start_copy(double now);

  /// Copies that were started so far.
  int copies() const { return copies_; }

 private:
  struct Split {
    double start = 0.0;
    bool done = false;
    bool copied = false;
    bool received = false;
    int by = -1;  ///< whose result counts, once it is done
  };
  struct Attempt {
    int split = 0;
    double start = 0.0;
    bool under_way = false;
  };
  /// What is to begin next: splits of lost workers, then those that were never begun.
  std::optional<int> take_next();
  /// The same for a worker; it is idle if there is nothing.
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
  int copies_ = 0;
};

}  // namespace simgrad::strategies
