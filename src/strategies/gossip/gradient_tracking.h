/// Gradient tracking: gossip in which every rank also tracks the mean of all ranks' gradients.
///
/// Source: A. Nedic, A. Olshevsky, W. Shi, "Achieving Geometric Convergence for Distributed Optimization over
/// Time-Varying Graphs", SIAM Journal on Optimization 27, 2017, Algorithm 1 (DIGing); P. Di Lorenzo, G. Scutari, "NEXT:
/// In-Network Nonconvex Optimization", 2016. x_i <- sum_j W_ij x_j - lr y_i; y_i <- sum_j W_ij y_j + g_i(new x) -
/// g_i(old x). The sum of all y is that of all g at any time. x and y travel in one message. Cost per step: t_c + alpha
/// + 2 degree M beta + (2 (2 degree + 1) + 2) d / speed + t_update; by codes of m bytes m instead of M, and 2 (t_encode
/// + degree t_decode + 2 d / speed) more. x and y are encoded apart.
#pragma once

#include "strategies/compression.h"
#include "strategies/gossip/mixes.h"

namespace simgrad::strategies {

struct GradientTracking : Mixes {
  static constexpr base::About about{
      .kind = "gradient_tracking",
      .summary = "gossip in which every rank tracks the mean of all gradients and steps along it; for data that differ",
      .cost = "t_c + alpha + 2 degree M beta + (4 degree + 4) d / speed + t_update a step",
      .source = "A. Nedic, A. Olshevsky, W. Shi, Achieving Geometric Convergence for Distributed Optimization, 2017"};

  Compression compression = no_compression();

  void describe(base::Describer& d) override;
  void operator()(Worker& worker) const override;
};

}  // namespace simgrad::strategies
