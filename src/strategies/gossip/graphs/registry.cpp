#include "strategies/gossip/graphs/edge_list.h"
#include "strategies/gossip/graphs/grids.h"
#include "strategies/gossip/graphs/lines.h"
#include "strategies/gossip/graphs/powers.h"
#include "strategies/gossip/graphs/random.h"

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
