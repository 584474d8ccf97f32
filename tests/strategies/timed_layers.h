// Trainings of which only the times are looked at: gradients of equal layers, and messages; additions take no time.
#pragma once

#include <cstdint>
#include <utility>

#include "training/trial.h"

namespace simgrad::tests {

inline Trial timed_layers(training::Program program, int workers, std::int64_t features, int layers,
                          std::int64_t updates) {
  Trial trial{.program = std::move(program), .workers = workers, .rows = 2 * workers, .features = features};
  trial.flops_a_row = 4e6;
  trial.layers = layers;
  trial.training.numbers = false;
  trial.cluster.charge_reductions = false;
  trial.stop.steps = updates;
  trial.evaluate.every_steps = updates;
  return trial;
}

}  // namespace simgrad::tests
