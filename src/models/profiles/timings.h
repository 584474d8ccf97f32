/// The models whose layers can time a run that computes another model's numbers.
#pragma once

#include "models/model.h"

namespace simgrad::models {

/// The kind that stands for the run's own model.
inline constexpr std::string_view timed_as_itself = "itself";

/// "itself", then all models that are known by their layers.
const base::Registry<Model>& timings();

}  // namespace simgrad::models
