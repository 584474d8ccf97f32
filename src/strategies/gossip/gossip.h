/// Gossip: no server and no global sum; every rank keeps its own replica and averages with its neighbours.
///
/// Source: X. Lian et al., "Can Decentralized Algorithms Outperform Centralized Algorithms? A Case Study for
/// Decentralized Parallel Stochastic Gradient Descent", NIPS 2017, Algorithm 1 (D-PSGD: combine_then_adapt); adapt then
/// combine: A. H. Sayed, "Adaptation, Learning, and Optimization over Networks", 2014.
/// Cost per step: t_c + alpha + degree M beta + (2 degree + 1) d / speed + t_update; with overlap
/// max(t_c, alpha + degree M beta) + (2 degree + 1) d / speed + t_update, degree 1 with one peer. In buckets, as
/// gossip_buckets.cpp has it. One peer: B. Ying et al., "Exponential Graph is Provably Efficient for Decentralized Deep
/// Training", NeurIPS 2021.
#pragma once

#include "strategies/compression.h"
#include "strategies/gossip/coded_exchange.h"
#include "strategies/gossip/mixes.h"

namespace simgrad::strategies {

enum class GossipUpdate {
  combine_then_adapt,  ///< w_i <- sum_j W_ij w_j - lr g_i(w_i)
  adapt_then_combine,  ///< w_i <- sum_j W_ij (w_j - lr g_j(w_j))
  gradient_exchange    ///< w_i <- w_i - lr sum_j W_ij g_j(w_j)
};

struct Gossip : Mixes {
  static constexpr base::About about{
      .kind = "gossip",
      .summary = "every rank steps on its own replica and averages with its neighbours; no server, no global sum",
      .cost = "t_c + alpha + degree M beta + (2 degree + 1) d / speed + t_update a step",
      .source = "X. Lian et al., Can Decentralized Algorithms Outperform Centralized Algorithms?, 2017"};

  GossipUpdate update = GossipUpdate::combine_then_adapt;
  bool overlap = false;
  bool one_peer = false;
  Compression compression = no_compression();
  std::optional<double> consensus_step;  ///< default 0.4
  std::optional<double> bucket_bytes;

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;

 private:
  MixingTurns turns(const std::shared_ptr<const Adjacency>& edges, std::span<const int> ranks) const override;
  CodedExchange::Payload payload() const;
  void describe_one_peer(base::Describer& d);
  void refuse_buckets(base::Describer& d) const;
  std::optional<Refusal> buckets_refusal(const Circumstances& circumstances) const;
  std::optional<Refusal> turns_refusal(const Circumstances& circumstances) const;
  void step_in_buckets(Worker& worker) const;
};

}  // namespace simgrad::strategies
