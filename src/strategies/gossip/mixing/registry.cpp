#include "strategies/gossip/mixing/matrix_file.h"
#include "strategies/gossip/mixing/rules.h"

namespace simgrad::strategies {

const base::Registry<Mixing>& mixings() {
  static const base::Registry<Mixing> table({
      base::entry<Mixing, Metropolis>(),
      base::entry<Mixing, Uniform>(),
      base::entry<Mixing, MaxDegree>(),
      base::entry<Mixing, MatrixFile>(),
  });
  return table;
}

}  // namespace simgrad::strategies
