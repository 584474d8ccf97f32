/// The assumptions of a scenario whose change makes another candidate the best, and how large that change is.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/answer.h"
#include "planner/laboratory.h"

namespace simgrad::planner {

/// An assumption may be off by so many times, to either side.
inline constexpr double off_most = 4.0;

struct Sensitivity {
  std::vector<std::string> tried;
  std::vector<Turn> turns;  ///< the least change first
  bool done = true;         ///< else the time was up
};

/// Simulates the winner and its rivals with bandwidths, latencies, speeds, failures and prices twice and four times as
/// large, and half and a quarter. Where the best one changes, the change is narrowed down to a range of 5 %.
/// rivals: the winner first.
Sensitivity sensitivity_of(const std::vector<Candidate>& candidates, Laboratory& laboratory,
                           const std::vector<std::size_t>& rivals, const std::function<void()>& tick);

}  // namespace simgrad::planner
