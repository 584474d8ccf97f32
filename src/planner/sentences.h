/// The answer of a plan in sentences, for the terminal and for the page.
#pragma once

#include <string>
#include <vector>

#include "planner/answer.h"
#include "planner/reasons.h"

namespace simgrad::planner {

/// "hierarchical allreduce, bucket = 25MB": how a candidate trains, without its hosts.
std::string way_text(const Candidate& candidate);
/// "to loss 0.3", "to 300 G tokens".
std::string goal_text(const Candidate& candidate);

std::string tie_text(const Answer& answer);      ///< empty: no tie
std::string decided_text(const Answer& answer);  ///< how much of the space is decided
/// The expected goodput, failures, checkpoints and spares of the winner, by formula and by simulation; empty where a
/// closed form takes none in.
std::string failures_text(const Answer& answer);
/// Failures, checkpoints and reading of which the answer says nothing, and how to take them in; empty: there is none.
std::string left_out_text(const Answer& answer);
/// The spares of [capacity] that a candidate rents; 0: it has none.
int spares_of(const Answer& answer, std::size_t candidate);
/// " and 2 spare servers"; empty without any, and where they are not those of [capacity].
std::string spares_text(const Candidate& candidate, int spares);
/// "16 g5 on spot: hierarchical allreduce": hosts and way, with the candidate's spares, or with so many.
std::string choice_text(const Answer& answer, std::size_t candidate);
std::string choice_text(const Answer& answer, std::size_t candidate, int spares);
std::string effort_text(const Answer& answer);                 ///< the simulations
std::vector<std::string> limit_texts(const Answer& answer);    ///< what each limit costs
std::vector<std::string> turn_texts(const Answer& answer);     ///< what would change the winner
std::vector<std::string> refused_texts(const Answer& answer);  ///< reasons with their counts, and the nearest of each

}  // namespace simgrad::planner
