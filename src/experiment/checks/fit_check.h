/// The check that model, batch, workers and strategies suit the data, once their shape is known.
#pragma once

#include <optional>

#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// Adds a fault where the model, the batch, the workers or a strategy do not suit `rows` training rows of that shape,
/// or where a simulation does not fit into so much memory.
/// memory_bytes: if it is not given, what this process may still take, which only a simulation of some size asks for.
void check_fit(const Settings& settings, const models::Problem& problem, std::int64_t rows, scenario::Faults& faults,
               std::optional<double> memory_bytes = {});

}  // namespace simgrad::experiment
