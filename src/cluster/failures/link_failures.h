/// Links that fail and are repaired.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/random.h"

namespace simgrid::s4u {
class Link;
}

namespace simgrad::cluster {

class Cluster;

/// While a link is down it carries nothing (a byte a second): flows stall, and go on when it is back, as TCP's do.
/// Each link fails independently, and so does each direction of a full-duplex cable; the loopback links never fail.
class LinkFailures {
 public:
  LinkFailures(Cluster& cluster, std::uint64_t seed);

  /// The bandwidth of the link when it is up.
  double nominal_bandwidth(const simgrid::s4u::Link& link) const;

 private:
  void schedule(int which, std::int64_t count, double up_since_s);
  void free_held_flows();
  void look_again();

  Cluster& cluster_;
  std::uint64_t seed_;
  std::vector<simgrid::s4u::Link*> links_;
  std::map<const simgrid::s4u::Link*, double> down_;  ///< with their bandwidths when up
  double back_s_ = 0.0;                               ///< when the last link came back
  bool looks_again_ = false;                          ///< for flows whose latency was not paid then
};

}  // namespace simgrad::cluster
