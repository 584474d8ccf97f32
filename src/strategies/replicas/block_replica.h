/// A replica whose blocks are synchronised one by one.
#pragma once

#include <vector>

#include "collectives/allreduce.h"
#include "strategies/replicas/block_schedule.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

class BlockReplica {
 public:
  /// state: at the beginning, or restored.
  BlockReplica(const Worker& worker, const BlockOptions& options, State state);

  /// The state after the steps that are complete.
  const State& state() const { return state_; }
  const BlockSchedule& schedule() const { return schedule_; }
  std::size_t blocks() const { return blocks_.size(); }
  const Block& place(std::size_t b) const { return schedule_.blocks()[b]; }
  bool due(std::size_t b) const { return schedule_.due(b); }
  /// Whether a block that is due is synchronised by the sum of gradients; else by the mean of the parameters.
  bool sums(std::size_t b) const { return schedule_.agrees(b); }

  /// The block's parameters now.
  const Tensor& w(std::size_t b) const { return blocks_[b].w; }
  /// The block takes a step of its own.  g: of all parameters, this replica's part.  Virtual time: the block's update.
  void step_alone(std::size_t b, const Tensor& g);
  /// The block takes the step of all replicas.  g: the sum of their gradients of the block.  Virtual time: its update.
  void step_together(std::size_t b, const Tensor& g);
  /// The block becomes the mean of the replicas'.  sum: of their blocks.  Virtual time: a flop a number if P > 1.
  void average(std::size_t b, const Tensor& sum);
  /// All blocks have taken the step. Puts the next state together, and counts what was synchronised.  Virtual time: 3
  /// flops a number of the blocks that were due, where their movement is measured.
  void finish_step();

 private:
  const Worker& worker_;
  State state_;
  BlockSchedule schedule_;
  std::vector<State> blocks_;
};

/// A step whose blocks travel in one message behind the gradient: one of gradients to sum, and one of parameters to
/// average, if there are both.  Virtual time: of the gradient, the updates and the messages.
void step_together(Worker& worker, BlockReplica& replica, const collectives::Allreduce& algorithm);

}  // namespace simgrad::strategies
