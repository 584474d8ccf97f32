/// The states that a training can go back to, and the time that keeping them and failures take from it.
///
/// States are kept in two places: on stable storage, at the steps that the clock chooses, and in the ranks' own memory
/// for recoveries that go on from there. A crash erases a rank's memory.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/storage.h"
#include "record/record.h"
#include "training/checkpoints/checkpoint_clock.h"
#include "training/checkpoints/losses.h"
#include "training/checkpoints/snapshots.h"

namespace simgrad::training {

struct Options;

/// The bytes of a whole state.
double bytes_of(const State& state);

class CheckpointStore {
 public:
  /// remembers: whether a recovery goes on from the ranks' memory.
  CheckpointStore(cluster::Cluster& cluster, bool remembers);

  /// Decides when checkpoints are written.  state_bytes: of the largest part that one rank writes, called only if
  /// needed.  failing_hosts: the number of hosts subject to the failure process. Returns notes for the record.
  std::vector<std::string> plan(const Options& options, const std::function<double()>& state_bytes,
                                std::int64_t failing_hosts);

  /// Drops steps that are not complete, and returns the states to go on from: the ranks' memory before stable storage;
  /// null: there are none.  sharded: every rank's state is needed, as with servers; else one replica is enough.
  Snapshots* source(bool sharded);
  bool in_memory(const Snapshots* source) const { return source == &remembered_; }
  bool on_storage(const Snapshots* source) const { return source == &written_; }

  /// Keeps a rank's state in its memory, where a recovery may need it.
  void remember(int rank, const State& state, int reporters);
  void forget(int rank) { remembered_.forget(rank); }

  /// Whether checkpoints are written at all.
  bool writes() const { return clock_.has_value(); }
  /// Whether that step's state is to be written. The first rank to ask decides for all.
  bool chosen(std::int64_t step) { return clock_->due(step, cluster_.now(), cost_s_); }
  /// Writes a rank's state.  writes: whether this rank does, since equal replicas are written once.  reporters: the
  /// number of ranks whose states make up the checkpoint, called when the writing is done.  Virtual time: bytes /
  /// cluster.storage_bandwidth, which counts as communicating.
  void write(const cluster::Communicator& comm, const State& state, bool writes, const std::function<int()>& reporters);
  /// Reads back a state of that size.  Virtual time: that of writing it.
  void read(const cluster::Communicator& comm, const State& state) const;

  /// Counts the time lost with a host that is down.  recovers: whether a recovery begins with this crash.
  void crashed(bool recovers);
  /// A repaired rank rejoins: the current step is aborted, and its time is lost.
  void aborted() { losses_.crashed(cluster_.now()); }
  /// A new generation begins.
  void resumed(const Snapshots* source);
  /// keeps_going: under recovery = "continue" nobody knows what a lost rank's work would have been worth.
  void fill(record::Record& record, bool keeps_going) const;

 private:
  cluster::Cluster& cluster_;
  bool remembers_;
  std::optional<CheckpointClock> clock_;
  std::optional<cluster::Storage> storage_;
  double cost_s_ = 0.0;  ///< seconds that writing one checkpoint takes
  Snapshots written_;
  Snapshots remembered_;
  Losses losses_;
  std::int64_t crashes_ = 0;
};

}  // namespace simgrad::training
