/// Answers requests on the simulated cluster.
///
/// A front end sends each request to a replica as it arrives; requests and answers take no time on their way to and
/// from it. A stage spends the time of its slowest rank and of the sums among its tensor ranks; then its first rank
/// sends the tokens' hidden numbers to the first rank of the next stage, which spreads them among its own. The last
/// stage sends the chosen tokens, 4 bytes each, to the first one, which then goes on with their requests. Messages
/// between stages share the network's links.
/// Cost of an iteration with T tokens and A answers on a stage of b blocks and t tensor ranks: the pass (stage.h), then
/// 2 b sums of T x hidden numbers, one more on the first stage, one of 2 A numbers on the last, and on a later one
/// log2(t) messages, rounded up, that spread T x hidden numbers.
#pragma once

#include <memory>

#include "cluster/fabric/cluster.h"
#include "record/record.h"
#include "serving/setup.h"

namespace simgrad::cluster {
class World;
}

namespace simgrad::serving {

class Engine {
 public:
  /// cluster: with a host for each rank of the fleet.
  Engine(cluster::Cluster& cluster, Setup setup);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Starts the actors; then cluster.run() runs them.
  void start();
  cluster::World& world();
  /// The rate of arrivals above which the queue grows for ever (fleet.h), its exchanges taking their time on the
  /// cluster's idle links. At any time.
  double capacity_requests_per_s() const;
  /// Whether every request has its answer.
  bool complete() const;
  /// Only after the world's end.
  record::Record take_record();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace simgrad::serving
