/// Steps of a replica whose blocks travel beside its passes, each by itself, in an order that all replicas know.
#pragma once

#include <memory>
#include <vector>

#include "cluster/ranks/side_stream.h"
#include "strategies/replicas/block_replica.h"
#include "strategies/replicas/block_sync.h"
#include "training/passes.h"

namespace simgrad::strategies {

/// Steps whose blocks travel beside the passes. A forward pass waits for a block where it reads the block's parameters.
class BlockStream final : public training::UnitVisitor {
 public:
  /// order: ready, needed or movement.
  BlockStream(Worker& worker, BlockReplica& replica, const collectives::Allreduce& algorithm, SendOrder order);

  /// Trains until the training is over.
  void train();

  void enter(std::size_t unit) override;
  void leave(std::size_t /*unit*/) override {}
  Tensor parameters(std::size_t unit) const override;
  void make_gradient(std::size_t /*unit*/) override {}
  void complete(std::size_t unit, const Tensor& g) override;

 private:
  enum class Stage : unsigned char { complete, computing, ready, sent };
  /// Shared with the side actor, which may outlive this object for a moment.
  using Sums = std::vector<Tensor>;  ///< by block, empty before they have come
  struct TrainingIsOver {};

  bool overlaps(std::size_t b, std::size_t unit) const;
  std::vector<std::size_t> order_of_sending() const;
  void send_ready();
  void conclude(std::size_t b);
  void finish_step();
  /// Reports the state once all blocks have taken the step.  Errors: TrainingIsOver.
  void report_if_complete();

  Worker& worker_;
  BlockReplica& replica_;
  const collectives::Allreduce& algorithm_;
  SendOrder order_;
  cluster::SideStream stream_;
  std::shared_ptr<Sums> sums_;
  std::vector<Stage> stages_;       ///< by block
  std::vector<Tensor> messages_;    ///< by block, until they are sent
  std::vector<int> tasks_;          ///< by block
  std::vector<std::size_t> queue_;  ///< the blocks that are due, in the order of sending
  std::size_t sent_ = 0;            ///< of the queue
  bool forward_ = true;
  bool under_way_ = false;  ///< a step's blocks are not all complete
};

}  // namespace simgrad::strategies
