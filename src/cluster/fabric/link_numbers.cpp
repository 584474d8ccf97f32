#include "cluster/fabric/link_numbers.h"

#include <simgrid/s4u.hpp>

#include "cluster/fabric/cluster.h"

namespace simgrad::cluster {

int LinkNumbers::of(const simgrid::s4u::Link& link) {
  const auto [at, fresh] = numbers_.try_emplace(&link, count());
  if (fresh) {
    links_.push_back(&link);
    bandwidths_.push_back(cluster_.bandwidth(link));
  }
  return at->second;
}

std::string LinkNumbers::name(int number) const { return links_[static_cast<std::size_t>(number)]->get_name(); }

}  // namespace simgrad::cluster
