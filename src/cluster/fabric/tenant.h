/// A training, as its cluster sees it.
#pragma once

#include <string>

namespace simgrad::cluster {

/// Runs on the cluster's hosts.
class Tenant {
 public:
  virtual ~Tenant() = default;
  /// Whether the training is over; its actors may still be there for a moment.
  virtual bool ended() const = 0;
  /// Whether anything can still happen in it; if not it is deadlocked.
  virtual bool can_move() const = 0;
  /// The ranks that are blocked, for the error of a deadlock: "rank 0 (step 3) waits to receive from rank 1; ...".
  virtual std::string blocked_ranks() const = 0;
  /// Kills all of its actors but the calling one.
  virtual void kill_actors() = 0;
};

}  // namespace simgrad::cluster
