/// The hosts and links of a cluster that a scenario may name.
#pragma once

#include <string>
#include <vector>

#include "cluster/options.h"

namespace simgrad::cluster {

struct Classes {
  std::vector<std::string> hosts;       ///< each once, in the order of the hosts
  std::vector<std::string> links;       ///< each once, by name; loopback links excluded
  std::vector<std::string> link_names;  ///< the two directions of a full-duplex one have one name
};

/// The name of the full-duplex link of which SimGrid made this direction; the name itself of any other.
std::string without_direction(const std::string& name);

/// The classes of a cluster of that many hosts, without slow links and other traffic, built in a child process; none
/// if it cannot be built.
Classes classes_of(const Options& options, int hosts);

}  // namespace simgrad::cluster
