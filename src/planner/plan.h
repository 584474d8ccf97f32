/// `simgrad plan`: the best way to train, out of a space of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiment/plan/search_space.h"
#include "planner/answer.h"

namespace simgrad::planner {

struct PlanOptions {
  std::string out;                                             ///< the results directory
  double real_s = 60.0;                                        ///< for all simulations
  int jobs = 0;                                                ///< as for run_plan
  int threads = -1;                                            ///< likewise
  bool again = false;                                          ///< simulations of earlier commands count for nothing
  std::function<void(const std::string& text)> progress = {};  ///< told how far the search is, now and then
};

/// Searches the candidates of the space, as long as the time allows. Equal scenarios and seeds have equal answers,
/// whatever jobs and threads are, unless the time is up before all is decided. Errors: ScenarioError for limits that no
/// candidate meets: which one, and by how much it would have to give.
Answer planned(const experiment::SearchSpace& space, Candidates candidates, const PlanOptions& options);

}  // namespace simgrad::planner
