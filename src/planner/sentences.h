/// The answer of a plan in sentences, for the terminal and for the page.
#pragma once

#include <string>
#include <vector>

#include "planner/answer.h"
#include "planner/reasons.h"

namespace simgrad::planner {

/// "hierarchical allreduce, bucket = 25MB": how a candidate trains, without its hosts.
std::string way_text(const Candidate& candidate);
/// "16 g5 on spot: hierarchical allreduce": hosts and way.
std::string choice_text(const Candidate& candidate);
/// "to loss 0.3", "to 300 G tokens".
std::string goal_text(const Candidate& candidate);

std::string tie_text(const Answer& answer);                    ///< empty: no tie
std::string decided_text(const Answer& answer);                ///< how much of the space is decided
std::string effort_text(const Answer& answer);                 ///< the simulations
std::vector<std::string> limit_texts(const Answer& answer);    ///< what each limit costs
std::vector<std::string> turn_texts(const Answer& answer);     ///< what would change the winner
std::vector<std::string> refused_texts(const Answer& answer);  ///< reasons with their counts, and the nearest of each

}  // namespace simgrad::planner
