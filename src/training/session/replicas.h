/// The workers whose replicas take part, in a training that goes on when a worker is lost (recovery = "continue").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace simgrad::training {

/// A worker, seen by the others.
struct ReplicaStatus {
  bool active = true;                  ///< at work on a replica of its own
  bool rejoins = false;                ///< has come back during this generation
  std::int64_t reported = -1;          ///< the step of its last report
  std::int64_t since = 0;              ///< the first step in which its replica takes part
  std::optional<int> joins_from = {};  ///< the rank that is to send it the parameters, until they are sent
};

class Replicas {
 public:
  /// alive: whether a rank's host is up now.
  Replicas(bool keep_going, std::function<bool(int rank)> alive) : keep_going_(keep_going), alive_(std::move(alive)) {}

  /// Whether the others go on when a worker is lost.
  bool keep_going() const { return keep_going_; }
  /// A new generation: the workers that are alive are active.
  void begin(int workers);

  bool active(int rank) const { return of(rank).active; }
  /// Whether the worker has come back during this generation, and so begins in the middle of it.
  bool rejoins(int rank) const { return rank < size() && of(rank).rejoins; }
  bool takes_part(int rank, std::int64_t step) const { return alive_(rank) && of(rank).since <= step; }
  std::int64_t since(int rank) const { return of(rank).since; }
  bool all_reported(std::int64_t step) const;
  int active_count() const;

  /// A worker that is back takes part from that step on, with the parameters that rank `from` sends it.
  void join(int rank, std::int64_t step, int from);
  /// The living workers to which `from` is to send its parameters of that step. Each is returned once.
  std::vector<int> joiners(int from, std::int64_t step);
  void report(int rank, std::int64_t step);
  void lose(int rank);
  /// The worker takes part in no step until it joins.
  void bring_back(int rank);

 private:
  int size() const { return static_cast<int>(all_.size()); }
  ReplicaStatus& of(int rank) { return all_.at(static_cast<std::size_t>(rank)); }
  const ReplicaStatus& of(int rank) const { return all_.at(static_cast<std::size_t>(rank)); }

  bool keep_going_;
  std::function<bool(int rank)> alive_;
  std::vector<ReplicaStatus> all_;  ///< by worker
};

}  // namespace simgrad::training
