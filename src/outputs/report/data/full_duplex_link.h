/// The two directions of a link together, and the host to which it belongs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "outputs/results.h"

namespace simgrad::outputs::report {

/// "nic-8" for the links "nic-8_UP" and "nic-8_DOWN". A link without a counterpart has only one direction.
struct FullDuplexLink {
  std::string name;
  std::string
      owner;  ///< "the server's", "a server's", "a worker's", "a host's"; empty for a link between switches. In English
  double up = 0.0;  ///< utilisation over the whole run
  double down = 0.0;
  bool by_turns = false;  ///< belongs to a synchronous server, which answers after it has received
  bool shared = false;    ///< also carries other traffic

  double both() const { return up + down; }
  double most() const { return up > down ? up : down; }
};

/// Returns the full-duplex link with the largest sum of utilisations; nothing if no link was recorded. A link belongs
/// to a host if it carries as many bytes in each direction as the host's ranks sent and received. used: the utilisation
/// of each link of the record.
std::optional<FullDuplexLink> busiest_full_duplex_link(const record::Record& record, std::span<const double> used);

}  // namespace simgrad::outputs::report
