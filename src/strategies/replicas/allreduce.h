/// Data-parallel training with an allreduce: every rank holds a replica, and all apply the sum of all gradients.
///
/// Source: S. Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 2020.
/// Cost per step: t_c + T_allreduce(P, M) + t_update. With buckets, c_i the end of bucket i's allreduce and b_i that of
/// the backward pass through its layers: c_i = max(b_i, c_(i-1)) + T_allreduce(P, M_i); the step takes the last c_i +
/// t_update. A bucket is a copy in memory, as PyTorch's reducer has it (gradient_as_bucket_view = False), and a model
/// of one bucket takes the time of all at once. Of k micro-batches every gradient is summed, k T_allreduce, or under
/// no_sync their sum alone. Compressed: compressed_sum.h.
#pragma once

#include <optional>

#include "collectives/allreduce.h"
#include "strategies/compression.h"
#include "strategies/replicas/compressed_sum.h"

namespace simgrad::strategies {

struct Allreduce : Strategy {
  static constexpr base::About about{
      .kind = "allreduce",
      .summary = "every rank holds a replica, and all apply the sum of all gradients (distributed data parallel)",
      .cost =
          "t_c + T_allreduce + t_update a step, less what the backward pass hides; ring: 2(P-1) alpha + 2(P-1)/P M "
          "beta + (P-1)/P M gamma",
      .source = "S. Li et al., PyTorch Distributed, 2020; P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce, 2009"};

  base::Slot<collectives::Allreduce> algorithm{collectives::allreduces(), "auto"};
  /// PyTorch's bucket_cap_mb: 25 by default (S. Li et al., section 4.2).
  static constexpr double default_bucket_bytes = 25e6;
  std::optional<double> bucket_bytes = default_bucket_bytes;
  Compression compression = no_compression();
  std::int64_t micro_batches = 1;
  bool no_sync = false;
  CodesWay codes = CodesWay::gather;

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  record::MemoryParts memory(const training::MemoryTerms& terms) const override;
  void operator()(Worker& worker) const override;

 private:
  bool overlaps(const Worker& worker) const;
  void hold_buckets(Worker& worker, const State& state) const;
  void in_buckets(Worker& worker) const;
};

}  // namespace simgrad::strategies
