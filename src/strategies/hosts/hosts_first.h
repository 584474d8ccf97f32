/// The devices of each host as one worker of a strategy: they sum their gradients inside the host, and the first one
/// trains with the other hosts.
///
/// A strategy with the option hosts_first sees as many workers as there are hosts. In a step a worker's first device
/// sends the parameters around its host, every device makes the gradient of its own part of the batch, and the first
/// one gets their sum. All else (pushes, averages, updates, compression, checkpoints) is between the first devices.
/// Cost per step beside the strategy's own with hosts of g devices: (g-2+c) (alpha_i + M beta_i/c) for the parameters
/// in c pieces; and what the backward pass does not hide of (g-2+c) (alpha_i + m beta_i/c + m gamma/c) for each layer
/// of m bytes, one after the other. Gradients of tasks and of keys, and assignments to centres, are summed
/// after the pass, not beside it (host_tasks.h, host_keys.h): (g-2+c) (alpha_i + m beta_i/c) each way. Rows that a
/// master deals cost alpha_i + those of g-1 devices beta_i more; k bytes of keys cost min(2, g-1) (alpha_i + k beta_i),
/// if their numbers are as long. Source: T. Chen et al., "MXNet: A Flexible and Efficient Machine Learning Library
/// for Heterogeneous Distributed Systems", 2015 (two-level parameter server, section 3.3).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strategies/strategy.h"

namespace simgrad::strategies {

class HostsFirst final : public Strategy {
 public:
  /// devices: those of a host.
  HostsFirst(std::shared_ptr<const Strategy> strategy, int devices);

  void operator()(Worker& worker) const override;
  void operator()(Server& server) const override { (*strategy_)(server); }
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  std::vector<std::string> warnings(std::int64_t P, std::uint64_t seed) const override;
  record::MemoryParts memory(const training::MemoryTerms& terms) const override;
  std::shared_ptr<const Strategy> alone() const override { return strategy_->alone(); }

 private:
  /// The devices of a worker of the strategy where there are P; and the strategy's workers.
  std::int64_t devices(std::int64_t P) const;
  std::int64_t workers_of(std::int64_t P) const { return P / devices(P); }

  std::shared_ptr<const Strategy> strategy_;
  int devices_;
};

/// The strategy with the devices of each host as one worker; itself where its option hosts_first is false.
std::shared_ptr<const Strategy> on_hosts(std::shared_ptr<const Strategy> strategy, const cluster::Options& cluster);

}  // namespace simgrad::strategies
