#include "collectives/hosts.h"

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/local_groups.h"
#include "cluster/ranks/world.h"

namespace simgrad::collectives {

std::vector<std::vector<int>> hosts_of(const cluster::Communicator& comm) {
  const cluster::World& world = comm.world();
  std::vector<std::vector<int>> hosts;
  for (const std::vector<int>& group : comm.local_groups().groups)
    for (const int member : group) {
      const int host = world.host(comm.world_rank(member));
      const bool beside = member != group.front() &&
                          world.cluster().options().inside_host(world.host(comm.world_rank(group.front())), host);
      if (beside)
        hosts.back().push_back(member);
      else
        hosts.push_back({member});
    }
  return hosts;
}

}  // namespace simgrad::collectives
