/// Delayed SGD from peer to peer: every rank sends each of its updates to all others, and all add it on arrival.
///
/// Source: J. N. Tsitsiklis, D. P. Bertsekas, M. Athans, "Distributed Asynchronous Deterministic and Stochastic
/// Gradient Optimization Algorithms", IEEE Transactions on Automatic Control 31, 1986: processors that hold copies of
/// the parameters, and messages with delays. A rank turns its gradient into an update: the change of its own w by its
/// own optimizer at its own rate. All replicas add the same updates, each in its own order of arrival; a rank's part of
/// the gradient is not multiplied by P, as under an asynchronous server. Once the last updates have come, replicas are
/// equal but for rounding, whatever the schedule or the optimizer. Where codes are sent, the sender adds what the
/// others decode. Arrivals are added by actors beside the rank, one a sender. Cost per update of a rank's own: max(t_c
/// + t_update, alpha + (P - 1) M beta); by codes of m bytes max(t_c + t_encode + t_update, alpha + (P - 1) m beta).
/// Adding another's update takes d / speed in the actor that does, and decoding; the rank's own time does not grow by
/// it, as if a core were there for it.
#pragma once

#include "strategies/compression.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

struct AsyncBroadcast : Strategy {
  static constexpr base::About about{
      .kind = "async_broadcast",
      .summary = "every rank sends its updates to all others, which add them on arrival; no server, nobody waits",
      .cost =
          "max(t_c + t_update, alpha + (P - 1) M beta) an update of its own, P of them a step; others' are added "
          "meanwhile",
      .source =
          "J. Tsitsiklis, D. Bertsekas, M. Athans, Distributed Asynchronous Gradient Optimization Algorithms, 1986"};

  Compression compression = no_compression();

  void describe(base::Describer& d) override {
    describe_move_compression(d, compression);
    describe_hosts_first(d);
  }
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;
};

}  // namespace simgrad::strategies
