/// AD-PSGD: every rank updates its replica at its own pace and averages it with one neighbour's at a time.
///
/// Source: X. Lian, W. Zhang, C. Zhang, J. Liu, "Asynchronous Decentralized Parallel Stochastic Gradient Descent", ICML
/// 2018, Algorithm 1. While a rank computes a gradient at its x, it asks a random neighbour for an average: the
/// neighbour moves to the middle at once and answers with its x from before. When the answer has come, the asker moves
/// by its half, then takes its step.
///
/// The paper splits the graph into ranks that ask and ranks that answer, so that no rank waits for a waiting one. Here
/// actors beside the ranks answer and never wait: any graph will do, odd rings too, and all ranks ask
/// (pair_averages.h). Cost per update: max(t_c, 2 (alpha + M beta) + 3 d / speed) + 2 d / speed + t_update; two ranks
/// that ask each other need alpha + M beta less, and no 3 d. By codes of m bytes m instead of M; t_encode before all,
/// t_decode before the 2 d, and at the other t_decode before and t_encode after its 3 d. The actors that answer do not
/// slow down the rank, as if a core were there for them. The spectral gap is that of random pairs
/// (spectral_gap_of_pairs).
#pragma once

#include "strategies/compression.h"
#include "strategies/gossip/on_graph.h"

namespace simgrad::strategies {

struct AdPsgd : OnGraph {
  static constexpr base::About about{
      .kind = "ad_psgd",
      .summary = "asynchronous gossip: ranks update at their own pace and average with one random neighbour at a time",
      .cost = "max(t_c, 2 (alpha + M beta) + 3 d / speed) + 2 d / speed + t_update an update, P of them a step",
      .source = "X. Lian, W. Zhang, C. Zhang, J. Liu, Asynchronous Decentralized Parallel SGD, 2018"};

  Compression compression = no_compression();

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;
};

}  // namespace simgrad::strategies
