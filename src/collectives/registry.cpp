#include "collectives/auto.h"
#include "collectives/bcube.h"
#include "collectives/binomial.h"
#include "collectives/butterfly.h"
#include "collectives/chain.h"
#include "collectives/double_binary_tree.h"
#include "collectives/flat.h"
#include "collectives/hierarchical.h"
#include "collectives/naive.h"
#include "collectives/nccl.h"
#include "collectives/ring.h"
#include "collectives/van_de_geijn.h"

namespace simgrad::collectives {

const base::Registry<Allreduce>& allreduces() {
  static const base::Registry<Allreduce> table({
      base::entry<Allreduce, Ring>(),
      base::entry<Allreduce, RecursiveDoubling>(),
      base::entry<Allreduce, Rabenseifner>(),
      base::entry<Allreduce, Tree>(),
      base::entry<Allreduce, DoubleBinaryTree>(),
      base::entry<Allreduce, Hierarchical>(),
      base::entry<Allreduce, BCube>(),
      base::entry<Allreduce, Naive>(),
      base::entry<Allreduce, Nccl>(),
      base::entry<Allreduce, Auto>(),
  });
  return table;
}

const base::Registry<Broadcast>& broadcasts() {
  static const base::Registry<Broadcast> table({
      base::entry<Broadcast, FlatBroadcast>(),
      base::entry<Broadcast, BinomialBroadcast>(),
      base::entry<Broadcast, ChainBroadcast>(),
      base::entry<Broadcast, VanDeGeijnBroadcast>(),
  });
  return table;
}

}  // namespace simgrad::collectives
