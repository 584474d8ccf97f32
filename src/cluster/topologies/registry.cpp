#include "cluster/topologies/star.h"

namespace simgrad::cluster {

const base::Registry<Topology>& topologies() {
  static const base::Registry<Topology> table({
      base::entry<Topology, Star>(),
  });
  return table;
}

}  // namespace simgrad::cluster
