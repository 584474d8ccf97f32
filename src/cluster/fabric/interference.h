/// Work and messages of one host that slow each other down.
///
/// The kernels that send and receive take multiprocessors and memory bandwidth from a device's products, and products
/// take memory bandwidth from what is sent. While a message of a host is under way, from its start to its end, products
/// on the host run at (1 - slowdown) of their speed. While they run, what the host sends by one link has (1 - slowdown)
/// of that link's bandwidth. Both hold at every moment, so that work of t seconds and bytes of b seconds that begin
/// together on a host end after max(t, b) + slowdown / (1 - slowdown) min(t, b).
#pragma once

#include <functional>
#include <vector>

#include "record/timeline.h"

namespace simgrid::s4u {
class Semaphore;
}

namespace simgrad::cluster {

class Cluster;

class Interference {
 public:
  /// changed: called with a host on which products begin to run, or end.
  Interference(const Cluster& cluster, double slowdown, std::function<void(int host)> changed);

  /// Whether such work is products of gradients.
  static bool concerns(record::Work work);
  /// A message of these two hosts is under way from now on; and no more.
  void begins(int source, int target);
  void ends(int source, int target);
  /// Blocks the calling actor, which computes products that take so long where no message is under way.
  void compute(int host, double seconds);
  /// Blocks the actor as `compute` does, but gives up once came() holds. Returns whether it finished.  woken: on which
  /// the actor blocks; it is released when came() may hold, once each time, and is left as if nobody had acquired it.
  bool compute_unless(int host, double seconds, simgrid::s4u::Semaphore& woken, const std::function<bool()>& came);
  /// The part of its links' bandwidth that a host's messages have now.
  double part_of_bandwidth(int host) const { return of(host).computing.empty() ? 1.0 : 1.0 - slowdown_; }

 private:
  class Products;
  struct Host {
    int messages = 0;                  ///< under way
    std::vector<Products*> computing;  ///< on the stacks of their actors
  };
  const Host& of(int host) const { return hosts_[static_cast<std::size_t>(host)]; }
  Host& of(int host) { return hosts_[static_cast<std::size_t>(host)]; }
  void add(int host, int messages);

  const Cluster& cluster_;
  double slowdown_;
  std::function<void(int)> changed_;
  std::vector<Host> hosts_;
};

}  // namespace simgrad::cluster
