// Trainings of which only the times are looked at: gradients of equal layers, and messages; additions take no time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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

/// When messages that take equally long have come, one at a time: of those that are ready, the first layers' first.
inline std::vector<double> sent(const std::vector<double>& ready, double message_s) {
  std::vector<double> over(ready.size(), -1.0);
  double now = 0.0;
  for (std::size_t n = 0; n < ready.size(); ++n) {
    std::size_t next = ready.size();
    for (std::size_t b = ready.size(); b-- > 0;)
      if (over[b] < 0.0 && ready[b] <= now) next = b;
    if (next == ready.size())  // nobody is ready: the earliest
      for (std::size_t b = 0; b < ready.size(); ++b)
        if (over[b] < 0.0 && (next == ready.size() || ready[b] < ready[next])) next = b;
    now = std::max(now, ready[next]) + message_s;
    over[next] = now;
  }
  return over;
}

}  // namespace simgrad::tests
