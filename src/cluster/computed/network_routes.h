/// The routes of the simulated network, as computed collectives need them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/computed/member_routes.h"

namespace simgrid::s4u {
class Link;
}

namespace simgrad::cluster {

class Cluster;
class World;

/// Numbers for a cluster's links, in the order in which they are asked for.
class LinkNumbers {
 public:
  explicit LinkNumbers(const Cluster& cluster) : cluster_(cluster) {}

  int of(const simgrid::s4u::Link& link);
  int count() const { return static_cast<int>(links_.size()); }
  double bandwidth(int number) const { return bandwidths_[static_cast<std::size_t>(number)]; }
  std::string name(int number) const;

 private:
  const Cluster& cluster_;
  std::unordered_map<const simgrid::s4u::Link*, int> numbers_;
  std::vector<const simgrid::s4u::Link*> links_;
  std::vector<double> bandwidths_;
};

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

/// The route from the host of a rank to that of another.
MemberRoute route_of_ranks(const World& world, int source, int target, LinkNumbers& numbers);

}  // namespace simgrad::cluster
