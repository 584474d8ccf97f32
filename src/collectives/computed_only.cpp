#include "collectives/computed_only.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "cluster/against_computing.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"

namespace simgrad::collectives {

std::string computed_only_refusal(std::string_view option, const cluster::Options& cluster) {
  const std::string_view disturbing = cluster::against_computing(cluster);
  if (disturbing.empty()) return {};
  return fmt::format(
      "{} is computed from the routes of its transfers, which cluster.{} disturbs; leave one of them out", option,
      disturbing);
}

namespace {

bool hosts_to_themselves(const cluster::World& world) {
  return world.ranks().own_hosts() && world.cluster().tenants() <= 1;
}

}  // namespace

bool may_be_computed_only(const cluster::Communicator& comm) {
  const cluster::World& world = comm.world();
  return cluster::against_computing(world.cluster().options()).empty() && hosts_to_themselves(world);
}

values::Tensor run_computed_only(const cluster::Communicator& comm, std::string_view option,
                                 const std::function<std::shared_ptr<const cluster::CollectiveTiming>()>& timing,
                                 values::Tensor x) {
  if (!hosts_to_themselves(comm.world()))
    throw std::runtime_error(fmt::format(
        "{} divides the links of hosts among its own transfers, but several ranks or jobs are on a host; leave it out",
        option));
  return comm.compute_together(timing, std::move(x));
}

}  // namespace simgrad::collectives
