/// What hosts and links a cluster has: what a scenario may name.
#pragma once

#include <string>
#include <vector>

#include "cluster/options.h"

namespace simgrad::cluster {

struct Classes {
  std::vector<std::string> hosts;       ///< each once, in the order of the hosts
  std::vector<std::string> links;       ///< each once, by name; without what ranks of one host tell each other over
  std::vector<std::string> link_names;  ///< of those; the two directions of a full-duplex one have one name
};

/// The name of the full-duplex link of which SimGrid made this direction; the name itself of any other.
std::string without_direction(const std::string& name);

/// Of a cluster of so many hosts, without slow links and other traffic, which is built in a process of its own; nothing
/// where it cannot be built.
Classes classes_of(const Options& options, int hosts);

}  // namespace simgrad::cluster
