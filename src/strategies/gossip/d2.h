/// D2: gossip whose replicas do not stray when every rank has other data.
///
/// Source: H. Tang, X. Lian, M. Yan, C. Zhang, J. Liu, "D2: Decentralized Training over Decentralized Data", ICML 2018,
/// Algorithm 1. Written as adapt, correct, combine, which is the same recursion (K. Yuan, B. Ying, X. Zhao, A. H.
/// Sayed, "Exact Diffusion for Distributed Optimization and Learning", 2018): psi = x - lr g(x); phi = psi + x - psi of
/// the step before; x <- sum_j W_ij phi_j. W must be symmetric with all eigenvalues above -1/3, which lazy mixing, the
/// default here, makes sure of. Cost per step: t_c + alpha + degree M beta + (2 degree + 3) d / speed + t_update; by
/// codes of m bytes m instead of M, and t_encode + degree t_decode + 2 d / speed more, as CodedExchange has it.
#pragma once

#include "strategies/compression.h"
#include "strategies/gossip/mixes.h"

namespace simgrad::strategies {

struct D2 : Mixes {
  static constexpr base::About about{
      .kind = "d2",
      .summary =
          "gossip that corrects each step by the last one, so that ranks with different data agree on the optimum",
      .cost = "t_c + alpha + degree M beta + (2 degree + 3) d / speed + t_update a step",
      .source = "H. Tang, X. Lian, M. Yan, C. Zhang, J. Liu, D2: Decentralized Training over Decentralized Data, 2018"};

  D2() { lazy = true; }
  Compression compression = no_compression();

  void describe(base::Describer& d) override;
  void operator()(Worker& worker) const override;

 protected:
  std::string matrix_refusal(const MixingMatrix& W) const override;
};

}  // namespace simgrad::strategies
