/// The checks of a plan's goal: how long to train, and the prices that its objective and limits need.
#pragma once

#include <optional>
#include <string>

#include "experiment/plan/search_space.h"
#include "planner/candidate.h"

namespace simgrad::planner {

/// Adds a fault if the scenario says neither a target loss nor an amount of training, or says both.
void check_goal(const experiment::SearchSpace& space, scenario::Faults& faults);

/// Adds a fault if the objective, a budget or a limit of power needs prices that the candidate's hosts do not have.
void check_prices_of(const Candidate& candidate, const scenario::Document& document, scenario::Faults& faults);

/// The samples to train on, as [plan] or [stop] says; nothing: until the target loss.
std::optional<double> samples_of(const experiment::Settings& settings, double tokens_a_sample, std::int64_t rows);

}  // namespace simgrad::planner
