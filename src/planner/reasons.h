/// The reasons for which candidates cannot be run, counted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/candidate.h"

namespace simgrad::planner {

/// One reason, for all candidates that are refused for it.
struct Reason {
  std::string text;
  std::size_t count = 0;
  const Refused* nearest = nullptr;  ///< the one that misses by least, or the first
};

/// The most frequent reason first; reasons that are as frequent in the order of their texts.
std::vector<Reason> counted(const std::vector<Refused>& refused);

/// The reason of a fault of the scenario: its text without its numbers.
std::string reason_of(const std::string& fault);
/// By how much a fault about memory says that it misses; 0: the fault is about something else.
double excess_of(const std::string& fault);

/// "12 by size; the nearest, zero, parallel.tensor = 4, is 0.25 % too large: ...".
std::string text_of(const Reason& reason);

/// The error for a space of which nothing is left.  candidates: none in `all`.
std::vector<std::string> nothing_left(const Candidates& candidates);

}  // namespace simgrad::planner
