/// Fully sharded data parallelism: a worker holds a shard of the parameters, and gathers each unit of the model when a
/// pass comes to it.
///
/// Source: Y. Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel", VLDB 2023.  M: bytes of
/// the parameters.  Bytes a worker and micro-batch: (P-1)/P M for each of all-gather forward, all-gather backward (none
/// where parameters stay after the forward pass) and reduce-scatter, and (P-1)/P of a tied embedding for the head, with
/// each all-gather of its unit (none where parameters stay; tied_gather.h has the source).  Time: collectives go one
/// after the other beside the passes. A pass through a unit waits for its all-gather, which begins when at most `limit`
/// units are gathered; a reduce-scatter begins after its unit's backward pass, which waits for the reduce-scatter
/// before. If passes are longer than collectives: t_c + T_all_gather(P, M_1) + T_all_gather(P, M_U) +
/// T_reduce_scatter(P, M_1) + t_update/P a step, since the last unit is gathered again for its backward pass once it
/// has been dropped; without prefetching, all three collectives of every unit but reductions are added.  Hybrid
/// (shard_group = H, the devices of a host): (H-1)/H M each, and an allreduce of M/H among the hosts.  Under clip_norm
/// and in float16: + T_recursive_doubling(H, 8 bytes), as in zero.
#pragma once

#include "strategies/sharded/unit_options.h"

namespace simgrad::strategies {

struct Fsdp : Strategy {
  static constexpr base::About about{
      .kind = "fsdp",
      .summary = "every worker holds a shard of the parameters, and gathers each unit when a pass comes to it",
      .cost =
          "all-gather forward and backward, reduce-scatter: 3(P-1)/P M bytes a worker and micro-batch, during the "
          "passes; 2(P-1)/P of a tied embedding, which is gathered for the head, too; t_update/P",
      .source = "Y. Zhao et al., PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel, 2023"};

  bool prefetch = true;
  std::int64_t limit = 2;
  bool reshard_after_forward = true;
  std::optional<std::int64_t> shard_group;
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
  int group(int P) const { return shard_group ? static_cast<int>(*shard_group) : P; }
};

}  // namespace simgrad::strategies
