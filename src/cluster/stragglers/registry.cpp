#include "cluster/stragglers/drawn.h"
#include "cluster/stragglers/varying.h"

namespace simgrad::cluster {

const base::Registry<Stragglers>& stragglers() {
  static const base::Registry<Stragglers> table({
      base::entry<Stragglers, NoStragglers>(),
      base::entry<Stragglers, ConstantStragglers>(),
      base::entry<Stragglers, LogNormal>(),
      base::entry<Stragglers, ShiftedExponential>(),
      base::entry<Stragglers, Pareto>(),
      base::entry<Stragglers, Bimodal>(),
      base::entry<Stragglers, MegaScale>(),
      base::entry<Stragglers, Markov>(),
      base::entry<Stragglers, Periodic>(),
      base::entry<Stragglers, SpeedTrace>(),
  });
  return table;
}

}  // namespace simgrad::cluster
