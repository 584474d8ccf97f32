// A training's parts without ranks and clock: a problem of four parameters, and states to report.
#pragma once

#include <vector>

#include "catch.h"
#include "models/model.h"
#include "training/learning/learning.h"
#include "training/optimizers/sgd.h"
#include "training/session/generation.h"

namespace simgrad::tests {

/// A problem that nobody trains: 4 parameters, steps of 12 rows.
struct SessionParts {
  values::Dispatcher dispatcher{{.label = {}}};
  training::Learning learning{{.data = nullptr,
                               .model = models::registry().find("least_squares")->make(),
                               .problem = {.features = 4, .classes = 0},
                               .rows = 24,
                               .batch = 12},
                              dispatcher};
  training::Traits traits;
  training::Sgd optimizer;
  const training::ModelParts* model_parts = nullptr;  ///< of a mesh

  training::Generation generation(const std::vector<bool>& alive, int workers, training::Holder holder,
                                  training::Snapshots* source = nullptr, const training::Generation* before = nullptr,
                                  bool lost_stay = false) {
    const training::Generation::Terms terms{.learning = learning,
                                            .parts = model_parts,
                                            .traits = traits,
                                            .optimizer = optimizer,
                                            .workers = workers,
                                            .holder = holder,
                                            .lost_stay = lost_stay};
    return training::Generation(before ? before->number() + 1 : 0, terms, alive, source, before);
  }
  training::State state(std::vector<double> w, std::int64_t step) {
    training::State made;
    made.w = dispatcher.constant(std::move(w));
    made.step = step;
    return made;
  }
  static std::vector<double> numbers(const values::Tensor& x) { return {x.value().begin(), x.value().end()}; }
};

}  // namespace simgrad::tests
