/// Numbers of a scenario that a planner had to assume, and the scenario where they are off.
#pragma once

#include <string>
#include <vector>

#include "planner/candidate.h"

namespace simgrad::planner {

struct Assumption {
  std::string name;  ///< "bandwidth", "latency", "speed", "interruptions", "price", "spot price", "power", ..
  std::string noun;  ///< "the bandwidth of all links"
  std::string key;   ///< its one number in a scenario; empty: it has several
};

/// The assumptions that a candidate makes.
std::vector<Assumption> assumptions_of(const Candidate& candidate);

/// The changes, as --set takes them, under which the number is `factor` times as large. Empty: the candidate does not
/// have it.
std::vector<std::string> changes_of(const Candidate& candidate, const std::string& assumption, double factor);

/// The value of the assumption's key in the candidate's scenario times `factor`, with its unit; empty without a key.
std::string value_at(const Candidate& candidate, const Assumption& assumption, double factor);

}  // namespace simgrad::planner
