/// A way of connecting hosts.
#pragma once

#include <string>
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
  /// Creates that many hosts, cabled, in the present SimGrid engine; host i is for rank i. The first `workers` of them are
  /// the devices of machines with several; each other one is a machine by itself.
  virtual std::vector<simgrid::s4u::Host*> build(const Machine& machine, int hosts, int workers) const = 0;
  /// Ranks that share a machine and its NIC.
  virtual int devices() const { return 1; }
  /// Why it cannot be built of such machines, or empty.
  virtual std::string unfit(const Machine& /*machine*/) const { return {}; }
  /// Whether a message between any two hosts takes latency + bytes / bandwidth as long as each sends one and receives one
  /// at a time, whatever the others do.
  virtual bool uncontended() const { return false; }
};

/// star
const base::Registry<Topology>& topologies();

}  // namespace simgrad::cluster
