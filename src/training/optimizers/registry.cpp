/// The optimizers a scenario can name.
#include "training/optimizers/adagrad.h"
#include "training/optimizers/adam.h"
#include "training/optimizers/adamw.h"
#include "training/optimizers/lamb.h"
#include "training/optimizers/momentum.h"
#include "training/optimizers/nesterov.h"
#include "training/optimizers/rmsprop.h"
#include "training/optimizers/sgd.h"

namespace simgrad::training {

void Optimizer::start(State& state) const {
  state.optimizer.assign(static_cast<std::size_t>(vectors()), 0.0 * state.w);
  state.optimizer_updates = 0;
}

const base::Registry<Optimizer>& optimizers() {
  static const base::Registry<Optimizer> table({
      base::entry<Optimizer, Sgd>(),
      base::entry<Optimizer, Momentum>(),
      base::entry<Optimizer, Nesterov>(),
      base::entry<Optimizer, Adagrad>(),
      base::entry<Optimizer, Rmsprop>(),
      base::entry<Optimizer, Adam>(),
      base::entry<Optimizer, Adamw>(),
      base::entry<Optimizer, Lamb>(),
  });
  return table;
}

}  // namespace simgrad::training
