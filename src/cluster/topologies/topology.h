/// A way of connecting hosts.
#pragma once

#include <vector>

#include "base/describe.h"
#include "base/registry.h"

namespace simgrid::s4u {
class Host;
}

namespace simgrad::cluster {

/// A host and its network interface.
struct Machine {
  double speed_flops_per_s = 10e9;
  double bandwidth_bytes_per_s = 125e6;  ///< each direction
  double latency_s = 50e-6;              ///< one way, host to host
};

class Topology : public base::Described {
 public:
  void describe(base::Describer&) override {}
  /// Creates that many hosts, cabled, in the present SimGrid engine; host i is for rank i.
  virtual std::vector<simgrid::s4u::Host*> build(const Machine& machine, int hosts) const = 0;
};

/// star
const base::Registry<Topology>& topologies();

}  // namespace simgrad::cluster
