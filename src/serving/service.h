/// The state of a run that answers requests, however its iterations get through the stages.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/signal.h"
#include "cluster/ranks/world.h"
#include "record/record.h"
#include "serving/group.h"
#include "serving/replica.h"
#include "serving/setup.h"
#include "serving/summary.h"

namespace simgrad::serving {

/// An iteration on its way through the stages.
struct Flight {
  std::int64_t number = 0;
  int replica = 0;
  Iteration iteration;
  Passing passing = {};
};

/// The flight that a message carries.
struct FlightNumber {
  std::int64_t number = 0;
};

/// The time of an iteration in a stage: the slowest rank's computing, then the exchanges among its tensor ranks.
struct PassSeconds {
  double compute_s = 0.0, exchange_s = 0.0;
};

class Service {
 public:
  /// cluster: with a host for each rank of the fleet.
  Service(cluster::Cluster& cluster, Setup setup);

  cluster::Cluster& cluster() const { return cluster_; }
  cluster::World& world() { return world_; }
  const Layout& layout() const { return setup_.fleet.layout; }
  /// The first rank of a replica's stage, which talks to other stages.
  int leader(int replica, int stage) const { return group(replica, stage).leader(); }
  const std::vector<Request>& requests() const { return setup_.requests; }
  /// Since the world's beginning.
  double elapsed_s() const { return world_.now() - world_.start_s(); }

  /// A request has come: chooses its replica.
  int route(std::size_t request);
  /// The replica's next iteration, which begins now; null: there is no work for any.
  Flight* next(int replica);
  /// The flight of that number, which is under way.
  Flight& flight(std::int64_t number) { return flights_.at(number); }
  /// A flight begins its pass through a stage: its numbers are computed, and the time counts as its ranks'.
  PassSeconds pass(Flight& flight, int stage);
  /// The first rank of a stage has waited for so long while a message was on its way to it.
  void count_receiving(int replica, int stage, double seconds) {
    spent(leader(replica, stage)).communicate_s += seconds;
  }
  /// Bytes of the message from a stage to the next one, from the last one to the first.
  std::int64_t message_bytes(const Flight& flight, int stage) const;
  /// The iteration is through all stages, and its tokens are where its requests are.
  void finish(std::int64_t flight);
  /// Whether every request has its answer.
  bool complete() const { return std::cmp_equal(done_, setup_.requests.size()); }
  /// Blocks the calling actor until it is so.
  void await_completion();
  /// Ends the world, and with it all actors but the calling one.
  void end();

  /// See Engine.
  double capacity_requests_per_s() const;
  /// Only when all actors have ended.
  record::Record take_record();

 private:
  /// A rank's seconds.
  struct RankSeconds {
    double compute_s = 0.0, communicate_s = 0.0, memory_s = 0.0;
  };

  Group& group(int replica, int stage) { return groups_[place(replica, stage)]; }
  const Group& group(int replica, int stage) const { return groups_[place(replica, stage)]; }
  std::size_t place(int replica, int stage) const {
    return static_cast<std::size_t>(replica * layout().pipeline + stage);
  }
  Replica& replica(int r) { return replicas_[static_cast<std::size_t>(r)]; }
  RankSeconds& spent(int rank) { return spent_[static_cast<std::size_t>(rank)]; }
  StageLines lines(int replica, int stage) const;
  double compute_s(int rank, const PassTime& nominal, std::int64_t iteration);
  double exchange_s(Group& group, int stage, const Load& load);
  void fill_ranks(record::Record& record) const;
  void fill_memory(record::Record& record) const;
  void fill_serving(record::Record& record);
  void note_interruptions(record::Record& record) const;

  cluster::Cluster& cluster_;
  Setup setup_;
  cluster::World world_;
  std::vector<Group> groups_;  ///< by replica, then stage
  std::vector<Replica> replicas_;
  std::vector<RankSeconds> spent_;
  std::vector<record::ServedRequest> served_;
  std::map<std::int64_t, Flight> flights_;
  std::int64_t iterations_ = 0, slices_ = 0, interruptions_ = 0;
  TokensChosen tokens_;
  std::size_t done_ = 0, routed_ = 0;
  cluster::Signal completed_;
};

}  // namespace simgrad::serving
