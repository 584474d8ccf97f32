// Programs that are simpler than any strategy, and a trial of round numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "training/trial.h"

namespace simgrad::tests {

/// Every rank for itself: no word between them.
inline training::Program alone() {
  training::Program program;
  program.work = [](training::Worker& worker) {
    training::State state = worker.start();
    while (worker.continues(state)) worker.update(state, worker.gradient(state.w));
  };
  return program;
}

/// The ranks compute, then all send their parameters to the next one.
inline training::Program passing_on() {
  training::Program program;
  program.work = [](training::Worker& worker) {
    const int P = worker.comm().size();
    training::State state = worker.start();
    while (worker.continues(state)) {
      worker.update(state, worker.gradient(state.w));
      worker.comm().exchange(state.w, (worker.comm().rank() + 1) % P, (worker.comm().rank() + P - 1) % P);
    }
  };
  return program;
}

/// One worker whose step takes 10 ms: 48 rows, and updates for free.
inline Trial centiseconds() {
  Trial trial{.program = alone(), .workers = 1, .rows = 48};
  trial.flops_a_row = 1e7 / 48;
  trial.cluster.charge_reductions = false;
  return trial;
}

/// The steps of a curve.
inline std::vector<std::int64_t> steps_of(const record::Record& record) {
  std::vector<std::int64_t> all;
  for (const auto& row : record.curve) all.push_back(row.step);
  return all;
}

}  // namespace simgrad::tests
