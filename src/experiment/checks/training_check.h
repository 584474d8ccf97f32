/// The checks of one training: that its numbers, data, model, partition, batch and strategies suit each other.
#pragma once

#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// Adds a fault for options that need numbers in a timing-only run, and for evaluations of rows that there are not.
void check_numbers(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);

/// Adds a fault where the parts of a training, each of which is sound, do not suit each other. The data are checked as
/// far as they are known before they are made or read.
void check_fitness(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);

}  // namespace simgrad::experiment
