/// The money and the energy that a candidate's hosts take each second, before anything is simulated.
#pragma once

#include <optional>
#include <string>

#include "planner/candidate.h"

namespace simgrad::planner {

struct Rates {
  std::optional<double> usd_per_s = {};  ///< of all hosts while they are up
  std::optional<double> idle_w = {};     ///< of all hosts and their overhead, if none of them computes
  std::optional<double> busy_w = {};     ///< likewise, if all of them compute
};

/// Nulls where no price says so, and on a platform's file.
Rates rates_of(const Candidate& candidate);

/// "16 hosts", "16 g5", "8 g5 and 1 c6 on spot": the hosts of a candidate by class.
std::string hosts_text(const Candidate& candidate);

}  // namespace simgrad::planner
