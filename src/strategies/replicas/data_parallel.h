/// Data parallelism with a master device, the older way on one machine: the first worker deals out the batch and the
/// parameters in every step, and gathers the gradients.
///
/// Source: S. Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 2020,
/// section 2.2 (DataParallel). Cost per step: 2 alpha + (2(P-1) M + bytes of the others' rows) beta + t_c + (P-1) M
/// gamma + t_update; all of it through the master's link. In buckets the master deals out and computes at once.
#pragma once

#include <optional>

#include "strategies/buckets/bucket_options.h"
#include "strategies/compression.h"

namespace simgrad::strategies {

struct DataParallel : Strategy, BucketOptions {
  static constexpr base::About about{
      .kind = "data_parallel",
      .summary = "a master device sends out the batch and the parameters in every step, and gathers the gradients",
      .cost = "2 alpha + (2(P-1) M + (P-1)/P batch bytes) beta + t_c + (P-1) M gamma + t_update a step",
      .source = "S. Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, 2020"};

  Compression compression = no_compression();
  Compression parameter_compression = no_compression();

  void describe(base::Describer& d) override;
  Traits traits(int /*P*/) const override {
    return {.holder = Holder::master,
            .passes = bucket_bytes ? Traits::Passes::units : Traits::Passes::whole,
            .deals_rows = true};
  }
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override {
    auto refusal = split_refusal(circumstances);
    return refusal ? refusal : compression_refusal(compression, circumstances);
  }
  void operator()(Worker& worker) const override;

 private:
  void lead(Worker& master) const;
  void follow(Worker& device) const;
  UnitBuckets buckets(const training::Learning& learning) const;
  void lead_in_buckets(Worker& master) const;
  void follow_in_buckets(Worker& device) const;
};

}  // namespace simgrad::strategies
