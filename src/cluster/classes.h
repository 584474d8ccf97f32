/// What kinds of hosts and links a cluster has: what prices may name.
#pragma once

#include <string>
#include <vector>

#include "cluster/options.h"

namespace simgrad::cluster {

struct Classes {
  std::vector<std::string> hosts;  ///< each once, in the order of the hosts
  std::vector<std::string> links;  ///< each once, by name; without what ranks of one host tell each other over
};

/// Of a cluster of so many hosts, which is built in a process of its own; nothing where it cannot be built.
Classes classes_of(const Options& options, int hosts);

}  // namespace simgrad::cluster
