/// The servers of a fleet: which are up, and which are free.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "cluster/failures/process.h"

namespace simgrad::capacity {

/// The failures of servers, each a function of seed and server alone: fleets of several sizes see the same ones.
struct Outages {
  const cluster::FailureProcess& failures;
  const cluster::Repair& repair;
  std::uint64_t seed = 1;
  double warm_up_s = 0.0;  ///< time before 0 in which servers fail already
};

class Servers {
 public:
  /// Errors: ScenarioError for more than 1,000,000 failures in the warm-up.
  Servers(int count, const Outages& outages);

  static constexpr double never = std::numeric_limits<double>::infinity();

  /// The next time at which the server goes down if it is up, or is up again if it is down.  Virtual seconds.
  double next_change_s(int server) const { return servers_[static_cast<std::size_t>(server)].next_s; }
  bool up(int server) const { return servers_[static_cast<std::size_t>(server)].up; }
  /// The job that has the server; -1: none.
  int job(int server) const { return servers_[static_cast<std::size_t>(server)].job; }

  /// Makes the next change. A server that goes down has no job from then on.
  void change(int server);
  /// Gives the free server of the lowest number to the job. Returns its number, or nothing if no server is free.
  std::optional<int> take(int job);
  /// Takes the server back from its job.
  void release(int server);

  int count() const { return static_cast<int>(servers_.size()); }
  int free() const { return static_cast<int>(free_.size()); }
  int down() const { return down_; }

 private:
  struct Server {
    bool up = true;
    int job = -1;
    double next_s = never;
    double up_again_s = never;  ///< the end of the outage that comes next
    std::int64_t failures = 0;  ///< that have ended, or are under way
  };
  /// Plans the outage behind the last one.
  void plan(int server, double up_since_s);

  Outages outages_;
  std::vector<Server> servers_;
  std::set<int> free_;
  int down_ = 0;
};

}  // namespace simgrad::capacity
