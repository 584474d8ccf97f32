/// The check that model, batch, workers and strategies suit the data, once their shape is known.
#pragma once

#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// Adds a fault where the model, the batch, the workers or a strategy do not suit `rows` training rows of that shape.
void check_fit(const Settings& settings, const models::Problem& problem, std::int64_t rows, scenario::Faults& faults);

}  // namespace simgrad::experiment
