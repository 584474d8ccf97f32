/// The devices of a pipeline's stages under a layout, and the network among them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/cut_model.h"
#include "strategies/automatic/concurrent_messages.h"
#include "strategies/parallel/parallel.h"

namespace simgrad::cluster {
class Cluster;
struct Device;
}  // namespace simgrad::cluster

namespace simgrad::strategies {

/// Ranks whose work takes as long.
struct DeviceKind {
  const cluster::Device* device = nullptr;  ///< null: flops alone count
  double nominal_flops_per_s = 0.0;         ///< of the host
  double flops_per_s = 0.0;                 ///< likewise, slower or faster ranks included
  bool operator==(const DeviceKind&) const = default;

  /// Seconds of one addition in a sum, of numbers with so many bytes.
  double addition_s(double bytes) const;
};

/// Ranks that sum gradients: all groups of the stage's ranks send at one time.
struct SumGroup {
  int members = 1;
  MessageCost ring = {};   ///< to the next one
  MessageCost pairs = {};  ///< to the one half of them on, if that is slower
};

/// The ranks of one stage: those with its part of the model, in every replica. All of a kind of group send at one time.
struct StageDevices {
  std::vector<DeviceKind> kinds;                                    ///< each once
  std::array<MessageCost, models::kinds_of_shares> rings = {};      ///< to the next rank that shares units, by kind
  std::array<MessageCost, models::kinds_of_shares> exchanges = {};  ///< to each of the others in turn: the mean
  SumGroup workers = {};                                            ///< the ranks that train the same parameters
  SumGroup sharers = {};                ///< and those that have other experts, where the strategy sums over both
  SumGroup replica = {}, context = {};  ///< the ranks of a replica along context x expert; along context
  MessageCost hop = {};                 ///< to the next stage, or back: the slower one
  double memory_bytes = 0.0;            ///< of the smallest device; infinite: not known
  bool charges_additions = true;

  /// Seconds of so many additions, where these cost anything.
  double additions_s(double numbers, double number_bytes) const;
  /// Seconds of a collective among n of the stage's ranks that share units, which begins with so many numbers on each.
  double collective_s(models::Step::Then then, models::Among among, double numbers, int n, double number_bytes) const;
  /// Seconds of the fastest allreduce in a group in which all do alike.
  double fastest_sum_s(const SumGroup& group, double numbers, double number_bytes) const;
  /// Seconds of an allreduce around a ring of n ranks.
  double ring_sum_s(const MessageCost& ring, double numbers, int n, double number_bytes) const;
};

/// Whether passes take as long on both.
bool alike_in_passes(const StageDevices& a, const StageDevices& b);

/// By stage of the mesh.  parallel: whose mesh it is.  traits: of the strategy.
std::vector<StageDevices> devices_of_stages(const cluster::Cluster& cluster, ConcurrentMessages& messages,
                                            const training::Mesh& mesh, const Parallel& parallel,
                                            const training::Traits& traits);

}  // namespace simgrad::strategies
