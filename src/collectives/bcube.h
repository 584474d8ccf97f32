/// BCube allreduce: in each stage groups of up to `base` members exchange parts all with all.
///
/// Source: C. Guo et al., "BCube: A High Performance, Server-centric Network Architecture for Modular Data Centers",
/// SIGCOMM 2009 (the cube). The stages are the prime factors of P put together to at most `base`; a larger prime is a
/// stage of its own.
#pragma once

#include "collectives/allreduce.h"

namespace simgrad::collectives {

struct BCube : Allreduce {
  static constexpr base::About about{
      .kind = "bcube",
      .summary = "groups of up to `base` members exchange parts all with all, stage by stage: few, wide steps",
      .cost = "2 S alpha + 2(P-1)/P M beta + (P-1)/P M gamma with S = log_base P stages",
      .source = "C. Guo et al., BCube: A High Performance, Server-centric Network Architecture, 2009"};

  std::int64_t base = 4;

  void describe(base::Describer& d) override;
  bool many_to_many() const override { return true; }

  values::Tensor combine(const cluster::Communicator& comm, values::Tensor x, values::Combination how) const override;
};

}  // namespace simgrad::collectives
