/// The order in which the pieces of work of an experiment are started.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// Pieces of work with equal data follow each other, so that data are loaded once, and among them the longest come
/// first, so that no long one is left at the end while other processes have nothing to do.
class Schedule {
 public:
  explicit Schedule(const std::vector<const RunPlan*>& runs);

  bool empty() const { return size_ == 0; }
  /// Takes the first piece of work that may start; nothing if none may.
  std::optional<std::size_t> take(const std::function<bool(std::size_t run)>& may_start);
  /// The number of pieces of work that fit; at most `most`.
  std::size_t count_if(const std::function<bool(std::size_t run)>& fits, std::size_t most) const;
  /// Puts a piece of work back before all others.
  void put_back(std::size_t run);
  /// Returns how many were removed.
  std::size_t remove_if(const std::function<bool(std::size_t run)>& unwanted);
  /// Sorts the pieces of work with equal data anew; equally long ones keep their order.
  void sort_by(const std::function<double(std::size_t run)>& expected_s);

 private:
  std::vector<std::deque<std::size_t>> groups_;  ///< by their data
  std::vector<std::size_t> group_of_;            ///< by run
  std::size_t size_ = 0;
};

}  // namespace simgrad::experiment
