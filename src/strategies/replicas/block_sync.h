/// Block scheduling: replicas step alone, and the model's blocks are synchronised by themselves, each in its own steps:
/// the more often the more it moves, by a list of periods, or in turn.
///
/// A block that is not due takes the optimizer's step with the replica's own gradient. If it is due and has been equal
/// on all replicas, its gradients are summed, and all take the same step, as under allreduce; else every replica takes
/// its own step, and the mean of the replicas' blocks replaces them, as under local SGD. So with period 1 for all
/// blocks it is allreduce, and with period H for all it is local SGD with H local steps, both bit for bit.
/// Sources: S. U. Stich, "Local SGD Converges Fast and Communicates Little", ICLR 2019 (averages); J. Wangni, J. Wang,
/// J. Liu, T. Zhang, "Gradient Sparsification for Communication-Efficient Distributed Optimization", NeurIPS 2018
/// (the largest moves first); A. Jayarajan, J. Wei, G. Gibson, A. Fedorova, G. Pekhimenko, "Priority-based Parameter
/// Propagation for Distributed DNN Training", MLSys 2019 (the order on the wire).
/// Cost per step, of the blocks that are due, with M_s bytes of summed and M_a of averaged ones: t_c + t_update +
/// T_allreduce(P, M_s) + T_allreduce(P, M_a) + M_a gamma/8 + 3 d_due / speed by movement. One by one, beside the
/// passes: the sum of block i in the order of sending ends at c_i = max(r_i, c_(i-1)) + T_allreduce(P, M_i), r_i being
/// the time when the backward pass has its gradient and those of the blocks before it; the next forward pass waits for
/// c_i where it comes to block i.
#pragma once

#include "collectives/allreduce.h"
#include "strategies/replicas/block_schedule.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// How blocks travel that are due in one step.
enum class SendOrder : unsigned char { together, ready, needed, movement };

struct BlockSync : Strategy {
  static constexpr base::About about{
      .kind = "block_sync",
      .summary =
          "replicas step alone, and blocks of the model are synchronised by an allreduce, the more often the "
          "more they move",
      .cost = "t_c + t_update + T_allreduce of the blocks that are due a step; with all of them due that of allreduce",
      .source =
          "S. U. Stich, Local SGD Converges Fast and Communicates Little, 2019; A. Jayarajan et al., "
          "Priority-based Parameter Propagation for Distributed DNN Training, 2019"};

  BlockOptions options;
  SendOrder send = SendOrder::together;
  base::Slot<collectives::Allreduce> algorithm{collectives::allreduces(), "auto"};

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  record::MemoryParts memory(const training::MemoryTerms& terms) const override;
  void operator()(Worker& worker) const override;

 private:
  std::optional<training::Rounds> rounds() const;
  std::optional<Refusal> count_refusal(const Circumstances& circumstances) const;
  std::optional<Refusal> length_refusal(const Circumstances& circumstances) const;
};

}  // namespace simgrad::strategies
