/// Delayed SGD from peer to peer: every rank sends each of its gradients to all others, and all apply it on arrival.
///
/// Source: J. N. Tsitsiklis, D. P. Bertsekas, M. Athans, "Distributed Asynchronous Deterministic and Stochastic Gradient
/// Optimization Algorithms", IEEE Transactions on Automatic Control 31, 1986: processors that hold copies of the parameters,
/// and messages with delays. All replicas get the same updates in orders of their own, each rank's part as it is, as under an
/// asynchronous server. Arrivals are applied by actors beside the rank, one a sender. Where codes are sent, the sender applies
/// what the others decode, so that replicas stay equal.
/// Cost per update of a rank's own: max(t_c + t_update, alpha + (P - 1) M beta); by codes of m bytes
/// max(t_c + t_encode + t_update, alpha + (P - 1) m beta).
#pragma once

#include "strategies/compression.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

struct AsyncBroadcast : Strategy {
  static constexpr base::About about{
      .kind = "async_broadcast",
      .summary = "every rank sends its gradients to all others, who apply them on arrival; no server, nobody waits",
      .cost = "max(t_c + t_update, alpha + (P - 1) M beta) an update of its own, P of them a step",
      .source = "J. Tsitsiklis, D. Bertsekas, M. Athans, Distributed Asynchronous Gradient Optimization Algorithms, 1986"};

  Compression compression = no_compression();

  void describe(base::Describer& d) override { describe_compression(d, compression); }
  std::optional<Unfit> unfit(const Fit& fit) const override { return compression_misfit(compression, fit); }
  bool synchronous() const override { return false; }
  std::int64_t gradients_an_update() const override { return 0; }
  bool own_pace() const override { return true; }
  bool replicas_differ() const override { return true; }
  bool many_to_many() const override { return true; }
  std::vector<cluster::Recovery> recoveries() const override { return allowed(true); }
  void operator()(Worker& worker) const override;
};

}  // namespace simgrad::strategies
