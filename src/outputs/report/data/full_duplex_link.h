/// The two directions of a link together, and whose it is.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "outputs/results.h"

namespace simgrad::outputs::report {

/// "nic-8" of "nic-8_UP" and "nic-8_DOWN"; a link of one direction has nothing in the other.
struct FullDuplexLink {
  std::string name;
  std::string owner;  ///< "the server's", "a server's", "a worker's", "a host's"; empty of a link between switches
  double up = 0.0;    ///< utilisations of the directions, over the whole run
  double down = 0.0;
  bool by_turns = false;  ///< a server's whose updates are synchronous: it answers after it has received
  bool shared = false;    ///< it carries other traffic too

  double both() const { return up + down; }
  double most() const { return up > down ? up : down; }
};

/// The one with the most to carry.  `used`: of each link of the record its utilisation.  A link is a host's if it
/// carries as many bytes each way as the host's ranks sent and received.  Nothing where no link was recorded.
std::optional<FullDuplexLink> busiest_full_duplex_link(const record::Record& record, std::span<const double> used);

}  // namespace simgrad::outputs::report
