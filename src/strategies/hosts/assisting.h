/// The programs of a host's devices behind the first one: parts of gradients for it, until the training ends while they
/// wait for parameters.
#pragma once

#include "training/program.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// traits: of the strategy among hosts.
void assist_first_device(training::Worker& device, const training::Traits& traits);

}  // namespace simgrad::strategies
