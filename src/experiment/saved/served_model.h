/// The trained parameters with which a scenario with [serving] answers: serving.model, a file of model_file.h.
#pragma once

#include <vector>

#include "data/dataset.h"
#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// Adds a fault for a model that is no transformer of the scenario's shape, or whose training was in another precision
/// than float64.  Nothing is added without serving.model.
/// Errors: EnvironmentError for a file that cannot be read; ScenarioError for one that is no model, or is damaged.
void check_served_model(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);

/// The parameters.  data: whose rows begin with the prompts; they must have the tokens of the training.
/// Errors: ScenarioError with the place of serving.model for other tokens; as above.
std::vector<double> served_parameters(const Settings& settings, const data::Split& data);

}  // namespace simgrad::experiment
