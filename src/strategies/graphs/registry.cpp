#include "strategies/graphs/edge_list.h"
#include "strategies/graphs/grids.h"
#include "strategies/graphs/lines.h"
#include "strategies/graphs/powers.h"
#include "strategies/graphs/random.h"

namespace simgrad::strategies {

const base::Registry<Graph>& graphs() {
  static const base::Registry<Graph> table({
      base::entry<Graph, Ring>(),
      base::entry<Graph, Complete>(),
      base::entry<Graph, StarGraph>(),
      base::entry<Graph, Path>(),
      base::entry<Graph, Grid2d>(),
      base::entry<Graph, Torus2d>(),
      base::entry<Graph, Hypercube>(),
      base::entry<Graph, Exponential>(),
      base::entry<Graph, RandomRegular>(),
      base::entry<Graph, ErdosRenyi>(),
      base::entry<Graph, EdgeList>(),
      base::entry<Graph, Support>(),
  });
  return table;
}

}  // namespace simgrad::strategies
