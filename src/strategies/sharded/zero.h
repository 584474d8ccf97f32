/// Data-parallel training whose workers each keep and update a shard of the optimizer's vectors, and, by stage, of the
/// gradient and of the parameters.
///
/// Source: S. Rajbhandari, J. Rasley, O. Ruwase, Y. He, "ZeRO: Memory Optimizations Toward Training Trillion Parameter
/// Models", SC 2020.  M: bytes of the parameters.  Cost per step, stages 1 and 2: t_c + T_reduce_scatter(P, M) +
/// t_update/P + T_all_gather(P, M), 2 (P-1)/P M bytes sent a worker, as an allreduce. In buckets, reductions go on
/// beside the backward pass as those of allreduce do; stage 2 has memory for two buckets, so that the backward pass
/// waits where the reduction of the bucket before is not done.  Stage 3: as fsdp, 3 (P-1)/P M bytes, and 2 (P-1)/P of
/// those of a tied embedding.  Under clip_norm and in float16 all workers must know the norm of the gradient before an
/// update: + T_recursive_doubling(P, 8 bytes).  The sums are added in the order of a ring allreduce: the parameters are
/// those of allreduce with equal buckets, bit for bit.
#pragma once

#include "strategies/sharded/unit_options.h"

namespace simgrad::strategies {

struct Zero : Strategy {
  static constexpr base::About about{
      .kind = "zero",
      .summary = "every worker keeps and updates a shard: of the optimizer's vectors, the gradient, the parameters",
      .cost =
          "stages 1, 2: t_c + T_reduce_scatter + t_update/P + T_all_gather a step, 2(P-1)/P M bytes a worker; stage "
          "3: 3(P-1)/P M bytes, unit by unit, and 2(P-1)/P of a tied embedding, which is gathered for the head, too",
      .source = "S. Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, 2020"};

  std::int64_t stage = 1;
  /// Stages 1 and 2; stage 3 has none.  By default the 40 million numbers of Megatron-LM's distributed optimizer with
  /// overlap_grad_reduce, of two bytes each.
  std::optional<double> bucket_bytes = 80e6;
  std::int64_t micro_batches = 1;
  bool no_sync = false;
  collectives::Rings rings;
  HostMemory host;

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  record::MemoryParts memory(const training::MemoryTerms& terms) const override;
  void operator()(Worker& worker) const override;

 private:
  /// Megatron-LM's distributed optimizer is stage 1.
  training::MainGradients main_gradients() const {
    return stage == 1 ? training::MainGradients::by_default : training::MainGradients::never;
  }
  std::vector<Stretch> stretches(const std::vector<models::Layer>& layers, double number_bytes) const;
};

}  // namespace simgrad::strategies
