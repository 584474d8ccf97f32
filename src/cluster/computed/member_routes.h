/// The routes among the members of a group.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

namespace simgrad::cluster {

/// A route as one message alone finds it.
struct MemberRoute {
  double latency_s = 0.0;
  double bandwidth_bytes_per_s = std::numeric_limits<double>::infinity();   ///< of its narrowest link
  double flow_limit_bytes_per_s = std::numeric_limits<double>::infinity();  ///< of one flow
  double payload_part = 1.0;  ///< of the bytes on its links, the rest are headers; both limits above are of payload
  std::vector<int> links;     ///< numbers of the links that flows share; each direction of a cable is a link

  /// The bytes a second of a message that no other one slows.
  double alone_bytes_per_s() const { return std::min(bandwidth_bytes_per_s, flow_limit_bytes_per_s); }
};

class MemberRoutes {
 public:
  virtual ~MemberRoutes() = default;
  /// Members are numbered in the group.
  virtual const MemberRoute& between(int source, int target) const = 0;
  /// The bytes that a link carries in a second.
  virtual double bandwidth(int link) const = 0;
  /// Link numbers are below it.
  virtual int links() const = 0;
};

}  // namespace simgrad::cluster
