/// The winner and its rivals as an experiment: full simulations, whose results and page are those of `simgrad run`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "experiment/plan/plan.h"
#include "experiment/plan/search_space.h"
#include "planner/answer.h"

namespace simgrad::planner {

/// An experiment of the space without any run, for the results directory.
experiment::Plan without_runs(const experiment::SearchSpace& space);

/// The most candidates that are simulated in full.
inline constexpr std::size_t confirmed_most = 4;

/// Adds the runs of the winner, its ties, the runner-up and the best of the rest, under the seeds of the last
/// comparison, with their baselines. Trainings whose length is an amount, and which are longer than was simulated, are
/// as long as their simulation.
void add_confirmed(experiment::Plan& plan, const Answer& answer);

/// The winner's scenario, resolved, without the search: what `simgrad run` takes. It trains to the goal: to the target
/// loss, or on the amount that is asked for, in whole steps.  directory: of the file to be.
nlohmann::ordered_json winner_scenario(const Answer& answer, const std::string& directory);

}  // namespace simgrad::planner
