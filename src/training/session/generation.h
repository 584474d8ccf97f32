/// One start of the ranks: its members, and the state that they begin with.
///
/// Generation 0 begins at step 0. A failure that stops all ranks ends a generation, and the next one goes on from a
/// snapshot. Nothing in a generation changes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "training/checkpoints/snapshots.h"
#include "training/learning/shards.h"
#include "training/program.h"

namespace simgrad::cluster {
struct StandIns;
}

namespace simgrad::training {

class Learning;
class ModelParts;
class Optimizer;

class Generation {
 public:
  /// Facts that hold for every generation of a training.
  struct Terms {
    const Learning& learning;
    const ModelParts* parts;  ///< null: every worker has the whole model
    const Traits& traits;
    const Optimizer& optimizer;
    int workers = 0;  ///< the first so many of all ranks
    Holder holder = Holder::workers;
    const cluster::StandIns* stand_ins = nullptr;  ///< null: every rank is simulated
    bool lost_stay = false;                        ///< workers that are lost stay members and come back to their places
  };
  /// alive: by rank; with servers, at least one of them.  source: keeps the start states; null: step 0. If the
  /// generation `before` had another number of servers, the states in `source` are dealt anew.
  Generation(int number, const Terms& terms, const std::vector<bool>& alive, Snapshots* source,
             const Generation* before);

  int number() const { return number_; }
  const Traits& traits() const { return terms_.traits; }
  /// The living workers, each by its first device, then the living servers.
  const std::shared_ptr<const std::vector<int>>& members() const { return members_; }
  int workers() const { return workers_; }  ///< P
  /// The ranks of a worker: devices of one host.
  int devices() const { return terms_.traits.devices_a_worker; }
  /// The rank that runs the program of the worker whose device that rank is.
  int first_device(int rank) const { return rank - rank % devices(); }
  int servers() const { return static_cast<int>(members_->size()) - workers_; }
  /// The number of ranks that report a state, and the i-th of them.
  int reporters() const;
  int reporter(int i) const;
  /// A rank's place among those that report.
  std::size_t place(int rank) const;
  /// The servers' parts of the parameters; each server has all of them where the program does not deal them.
  const Shards& shards() const { return shards_; }

  const Snapshots* source() const { return source_; }
  std::int64_t start_step() const { return start_step_; }
  /// Whether that rank had a state of its own in the source's memory when the generation began.
  bool was_kept(int rank) const;
  /// The rank of a mesh from whose memory that rank's state of the source comes as the generation begins: its own, that
  /// of its copy, or that of a rank with the same part.  Errors: PeerLost if there is none.
  int giver(int rank) const;
  /// The state that a rank begins with. Errors: PeerLost if another crash has erased all states of the source.
  State start_state(int rank) const;
  /// Whether that state is a kept one, as the rank reported it.
  bool resumes() const { return source_ != nullptr; }
  /// The number of gradients that a worker has given after `step` steps, on average.
  double rounds(std::int64_t step) const;

 private:
  Shards dealt() const;
  void deal_again(Snapshots::States& kept, const Shards& before) const;
  std::vector<int> simulated_members() const;
  bool everybody_is_kept(const std::vector<bool>& alive) const;
  std::vector<int> givers() const;
  std::optional<int> stand_in_for(int rank, const Snapshots::States& kept) const;

  int number_;
  Terms terms_;
  std::shared_ptr<const std::vector<int>> members_;
  std::vector<int> reporters_;  ///< where some ranks stand for others; else empty
  int workers_;
  Shards shards_;
  const Snapshots* source_;
  std::int64_t start_step_;
  std::vector<int> kept_;       ///< the ranks of which the source had a state, ascending
  std::vector<int> givers_;     ///< of a mesh, by rank; -1: no memory has its state
  bool resumes_whole_ = false;  ///< every rank that reports has a state of its own to go on from
};

}  // namespace simgrad::training
