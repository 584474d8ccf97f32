/// The routes of the simulated network, as computed collectives need them.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cluster/computed/member_routes.h"
#include "cluster/fabric/link_numbers.h"

namespace simgrad::cluster {

class Cluster;
class World;

/// A group's routes. SimGrid is asked for each once.
class NetworkRoutes final : public MemberRoutes {
 public:
  NetworkRoutes(const World& world, std::shared_ptr<const std::vector<int>> members, LinkNumbers& numbers)
      : world_(world), members_(std::move(members)), numbers_(numbers) {}

  const MemberRoute& between(int source, int target) const override;
  double bandwidth(int link) const override { return numbers_.bandwidth(link); }
  int links() const override { return numbers_.count(); }

 private:
  const World& world_;
  std::shared_ptr<const std::vector<int>> members_;
  LinkNumbers& numbers_;
  mutable std::unordered_map<std::uint64_t, MemberRoute> known_;
};

/// The route from a host to another.
MemberRoute route_of_hosts(const Cluster& cluster, int source, int target, LinkNumbers& numbers);
/// The route from the host of a rank to that of another; no links and no latency within a host.
MemberRoute route_of_ranks(const World& world, int source, int target, LinkNumbers& numbers);

}  // namespace simgrad::cluster
