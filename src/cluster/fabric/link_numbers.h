/// Numbers for a cluster's links.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace simgrid::s4u {
class Link;
}

namespace simgrad::cluster {

class Cluster;

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

}  // namespace simgrad::cluster
