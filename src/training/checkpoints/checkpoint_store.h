/// The states that a training can go back to, and the time that keeping them and failures take from it.
///
/// States are kept in two places: on stable storage, at the steps that the clock chooses, and in the ranks' own memory
/// for recoveries that go on from there. A crash erases a rank's memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/storage.h"
#include "record/record.h"
#include "training/checkpoints/checkpoint_clock.h"
#include "training/checkpoints/losses.h"
#include "training/checkpoints/snapshots.h"
#include "training/precision.h"

namespace simgrad::training {

struct Options;

/// The bytes of a state in a checkpoint: each number in the format that the optimizer updates. A half-precision copy of
/// the parameters is left out, since it is made from them.
double bytes_of(const State& state, const NumberBytes& bytes);

/// The bandwidth at which a rank copies its checkpoint to its host's memory: the scenario's, or that of its first
/// device's link to its host; none: copying takes no time.
std::optional<double> host_memory_bandwidth(const cluster::Options& options);

/// The bytes of the largest part that one rank writes as a checkpoint, and that one reads.
struct CheckpointBytes {
  double written = 0.0;
  double read = 0.0;
};

class CheckpointStore {
 public:
  /// remembers: whether a recovery goes on from the ranks' memory.
  CheckpointStore(cluster::Cluster& cluster, bool remembers);

  /// Decides when checkpoints are written.  state_bytes: called only if needed.  failing_hosts: the number of hosts
  /// subject to the failure process. Returns notes for the record.
  std::vector<std::string> plan(const Options& options, const std::function<CheckpointBytes()>& state_bytes,
                                std::int64_t failing_hosts);

  /// From now on each rank's state is in another rank's memory, too.  holders: by rank, the rank with its copy.
  void copy_to(std::vector<int> holders) { remembered_.copy_to(std::move(holders)); }

  /// Drops steps that are not complete, and returns the states to go on from: the ranks' memory before stable storage;
  /// null: there are none. Storage that is still being written is given up.  enough: whether the memories' states make
  /// up the whole.
  Snapshots* source(const std::function<bool(const Snapshots&)>& enough);
  bool in_memory(const Snapshots* source) const { return source == &remembered_; }
  bool on_storage(const Snapshots* source) const { return source == &written_; }

  /// Keeps a rank's state in its memory, where a recovery may need it.
  void remember(int rank, const State& state, int reporters);
  /// A rank's host is down: its memory is gone, and what it was writing behind the training.
  void forget(int rank);
  /// A rank has got its state again from another's memory.
  void regain(int rank) { remembered_.regain(rank); }

  /// Whether checkpoints are written at all.
  bool writes() const { return clock_.has_value(); }
  /// Whether that step's state is to be written. The first rank to ask decides for all.
  bool chosen(std::int64_t step) { return clock_->due(step, cluster_.now(), cost_s_); }
  /// Writes a rank's state.  share: of the state, that this rank writes; the others that have it write the rest.
  /// reporters: the number of ranks whose states make up the checkpoint, called when the writing is done.  Virtual
  /// time: bytes / cluster.storage_bandwidth, which counts as communicating. With training.checkpoint_async the rank
  /// waits until its writing before is over, then for bytes / cluster.host_memory_bandwidth; storage is written
  /// meanwhile, and the checkpoint is complete once all ranks have written theirs.
  void write(const cluster::Communicator& comm, const State& state, double share,
             const std::function<int()>& reporters);
  /// Reads back a state of that size.  Virtual time: that of writing it.
  void read(const cluster::Communicator& comm, const State& state) const;

  /// Counts the time lost with a host that is down.  recovers: whether a recovery begins with this crash.
  void crashed(bool recovers);
  /// The training has ended with a step, or with its goal, before anybody has noticed the crash of a rank.
  void ended_unnoticed() { losses_.ended_unnoticed(); }
  /// A repaired rank rejoins: the current step is aborted, and its time is lost.
  void aborted() { losses_.crashed(cluster_.now()); }
  /// A new generation begins.
  void resumed(const Snapshots* source);
  /// keeps_going: under recovery = "continue" nobody knows what a lost rank's work would have been worth.
  void fill(record::Record& record, bool keeps_going) const;

 private:
  void copy_and_write_behind(const cluster::Communicator& comm, const State& state, double bytes,
                             const std::function<int()>& reporters);
  /// A rank's part is on storage.  since_s: the moment of its state.  cost_s: the time for which the rank stood still.
  void keep(int rank, const State& state, int reporters, double since_s, double cost_s);

  /// Storage that a rank writes behind the training.
  struct Writing {
    double until_s = 0.0;
    std::int64_t number = 0;  ///< among all; an end of another one is void
  };

  cluster::Cluster& cluster_;
  bool remembers_;
  bool async_ = false;
  NumberBytes bytes_;
  std::optional<CheckpointClock> clock_;
  std::optional<cluster::Storage> storage_;
  std::optional<cluster::Storage> host_memory_;
  std::map<int, Writing> writing_;  ///< by rank, its last one
  std::int64_t writings_ = 0;
  double cost_s_ = 0.0;  ///< seconds for which one checkpoint holds the ranks up
  double read_s_ = 0.0;  ///< that reading one takes
  Snapshots written_;
  Snapshots remembered_;
  Losses losses_;
  std::int64_t crashes_ = 0;
};

}  // namespace simgrad::training
