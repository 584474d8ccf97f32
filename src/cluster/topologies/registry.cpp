#include "cluster/topologies/dragonfly.h"
#include "cluster/topologies/fat_tree.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/pod.h"
#include "cluster/topologies/ring.h"
#include "cluster/topologies/shared_memory.h"
#include "cluster/topologies/star.h"
#include "cluster/topologies/torus.h"
#include "cluster/topologies/two_tier.h"
#include "cluster/topologies/wan.h"

namespace simgrad::cluster {

const base::Registry<Topology>& topologies() {
  static const base::Registry<Topology> table({
      base::entry<Topology, Star>(),
      base::entry<Topology, TwoTier>(),
      base::entry<Topology, FatTree>(),
      base::entry<Topology, Torus>(),
      base::entry<Topology, Dragonfly>(),
      base::entry<Topology, RingOfHosts>(),
      base::entry<Topology, GpuHosts>(),
      base::entry<Topology, Pod>(),
      base::entry<Topology, SharedMemory>(),
      base::entry<Topology, Wan>(),
  });
  return table;
}

}  // namespace simgrad::cluster
