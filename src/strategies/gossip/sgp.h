/// Stochastic gradient push: gossip along edges that lead one way, put right by push-sum.
///
/// Source: M. Assran, N. Loizou, N. Ballas, M. Rabbat, "Stochastic Gradient Push for Distributed Deep Learning", ICML
/// 2019, Algorithms 1 (SGP) and 2 (overlapped, tau = 1). Every rank holds x and a weight omega, 1 at first; it steps x
/// <- x - lr g(z) at z = x / omega, keeps one share of both and sends one to each target; what comes in is added.
/// Shares are equal, so that columns sum to 1 and sum x is kept, whatever the degrees. The weight travels with x in 8
/// bytes. Where codes of shares are sent, a rank keeps what they leave out, so that sum x is kept all the same. Cost
/// per step: t_c + alpha + degree (M + 8) beta + (2 + degree) d / speed + t_update, degree 1 with one peer; with
/// overlap max(t_c + the rest of the step, alpha + degree (M + 8) beta). In buckets, as sgp_buckets.cpp has it. By
/// codes of m bytes m instead of M, and t_encode + 3 d / speed + degree t_decode more. The spectral gap is that of the
/// shares' matrix; with one peer, of the turns' (spectral_gap_of_turns).
#pragma once

#include <memory>

#include "strategies/compression.h"
#include "strategies/gossip/on_graph.h"
#include "strategies/gossip/push_turns.h"

namespace simgrad::strategies {

struct Sgp : OnGraph {
  static constexpr base::About about{
      .kind = "sgp",
      .summary = "ranks push shares of their parameters along directed edges, and push-sum weights put the mean right",
      .cost = "t_c + alpha + M beta + 3 d / speed + t_update a step with one peer; overlapped max(t_c, alpha + M beta)",
      .source =
          "M. Assran, N. Loizou, N. Ballas, M. Rabbat, Stochastic Gradient Push for Distributed Deep Learning, 2019"};

  Sgp();
  bool one_peer = true;
  bool overlap = false;
  Compression compression = no_compression();
  std::optional<double> bucket_bytes;

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;

  /// The turns of the living workers, made once for all of them. The first of them reports their spectral gap.
  std::shared_ptr<const PushTurns> turns(const Worker& worker) const;

 private:
  void step_in_buckets(Worker& worker) const;

  mutable std::shared_ptr<const PushTurns> turns_;  ///< the last ones
};

}  // namespace simgrad::strategies
