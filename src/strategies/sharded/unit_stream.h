/// The parameters of units as they are gathered, and their gradients as they are reduced, beside a worker's passes.
///
/// All collectives go one after the other, in the order in which they are started, as on one communicator of NCCL.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/ranks/side_stream.h"
#include "collectives/lengths.h"
#include "strategies/sharded/unit_options.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

class UnitStream {
 public:
  UnitStream(Worker& worker, const Pieces& units, const UnitOptions& options);

  /// The member's place in the group that shares the parameters.
  int member() const { return member_; }
  /// The members of that group, of all.
  cluster::Communicator sharers(const cluster::Communicator& all) const;
  /// Begins the passes of a micro-batch.  shard: this member's parameters.  first: of the step.
  void begin(const Tensor& shard, bool first);
  /// The next visit, which is to that unit. Blocks until it is gathered; meanwhile, those of the next visits are, as
  /// far as the limit allows.
  void enter(std::size_t unit);
  /// The visit is over: its unit's parameters are dropped, unless they stay for its other visits.
  void leave(std::size_t unit);
  /// The parameters of a unit that has been entered.
  const Tensor& parameters(std::size_t unit) const { return beside_->gathered[unit]; }
  /// Gradients of micro-batches that are not reduced are in memory: of all parameters from now on, or of each unit from
  /// its first backward pass on (make_gradient). A unit's is in memory until it is reduced.
  void keep_gradients(bool of_all);
  /// The unit's gradient, which its backward pass is about to make, is in memory until it is reduced. That of a tied
  /// embedding is from the head's backward pass on.
  void make_gradient(std::size_t unit);
  /// Starts the sum over all workers of a unit's gradient; blocks until the sum before it is done. Adds its shard to
  /// the gradients in memory. A second sum of a unit is added to the first.
  void reduce(std::size_t unit, const Tensor& g);
  /// Blocks until all sums are done. Returns this member's shard of them; nothing if there are none.
  Tensor reduced();

 private:
  /// Shared with the side actor, which may outlive this object for a moment.
  struct Beside {
    std::vector<Tensor> gathered, reduced;                ///< by unit
    Tensor shard;                                         ///< of the last sum, before that across groups
    std::optional<cluster::Communicator> inside, across;  ///< the side actor's
  };
  bool gathers(std::size_t visit) const {
    return numbers(visit) > 0 && (visits_.first(visit) || options_.reshard_after_forward);
  }
  std::int64_t numbers(std::size_t visit) const {
    return visits_.gathered(visit, options_.reshard_after_forward, worker_.learning().units());
  }
  double parameter_bytes(std::int64_t of) const { return worker_.number_bytes().parameter * static_cast<double>(of); }
  void gather(std::size_t visit);
  void gather_with_embedding(std::size_t visit, const Tensor& own, std::int64_t embedding);
  void end_sum();
  double kept_gradient_bytes(std::int64_t of) const {
    return worker_.number_bytes().kept_gradient * static_cast<double>(of);
  }
  double gradient_bytes() const { return std::max(earlier_bytes_, shard_bytes_) + kept_bytes_; }

  const Worker& worker_;
  const Pieces& units_;
  UnitOptions options_;
  training::UnitVisits visits_;
  std::vector<std::size_t> ends_;  ///< by visit: the first one that is not gathered while it goes on
  int member_;
  std::vector<Stretch> chunks_;  ///< this member's, by unit, in its shard
  std::shared_ptr<Beside> beside_;
  cluster::SideStream stream_;
  Tensor shard_;
  collectives::Stretches own_;             ///< of the shard
  std::size_t entered_ = 0;                ///< visits that have begun
  std::size_t started_ = 0;                ///< visits whose gathers have been started
  std::vector<int> gather_tasks_;          ///< by visit
  std::vector<std::size_t> latest_visit_;  ///< by unit
  int last_sum_ = -1;                      ///< the task of the last sum
  std::size_t last_unit_ = 0;              ///< its unit
  bool reduces_ = false;                   ///< the micro-batch's gradients are reduced
  bool keeps_ = false;                     ///< gradients of micro-batches that are not reduced are in memory
  bool first_ = false;                     ///< the micro-batch is the step's first one
  double kept_bytes_ = 0.0;                ///< of the gradients that are kept, but those whose sums are done
  double reducing_bytes_ = 0.0;            ///< of the unit whose gradient is being summed
  double shard_bytes_ = 0.0;               ///< of the micro-batch's gradient
  std::vector<bool> summed_;               ///< by unit: once at least
  std::int64_t added_ = 0;                 ///< numbers of shards that have been added to others
  double earlier_bytes_ = 0.0;             ///< of the shards that the step's earlier micro-batches have left
};

}  // namespace simgrad::strategies
