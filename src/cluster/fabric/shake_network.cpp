/// Jitter, message by message.
#include <memory>
#include <simgrid/s4u.hpp>
#include <unordered_map>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/network_model.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

/// A draw depends on the two hosts, on how many messages have gone from one to the other before, and on whether it is
/// for the latency or for the bytes.
void Cluster::shake_network() {
  const std::shared_ptr<const Jitter> jitter = options_.jitter.shared();
  struct Counts {
    std::unordered_map<const sg4::Host*, std::uint32_t> number;
    std::unordered_map<std::uint64_t, std::uint64_t> messages;
  };
  const auto drawn = [&](double variation, std::uint16_t what) -> FlowMultiple {
    if (variation == 0.0) return {};
    const auto counts = std::make_shared<Counts>();
    for (int i = 0; i < hosts_.size(); ++i) counts->number[hosts_[i]] = static_cast<std::uint32_t>(i);
    return [jitter, variation, what, counts, seed = seed_](double, const sg4::Host* source, const sg4::Host* target) {
      const std::uint64_t from = counts->number[source], to = counts->number[target];
      const std::uint64_t ends = from << 16 | (to & 0xFFFF) | (to >> 16) << 33;  // to 32 bits below 65,536 hosts
      base::Stream stream({.seed = seed,
                           .purpose = base::Purpose::jitter,
                           .step = counts->messages[ends]++,
                           .rank = static_cast<std::uint32_t>(ends),
                           .attempt = static_cast<std::uint16_t>(what | ends >> 32 << 1)});
      return jitter->multiple(variation, stream);
    };
  };
  if (const FlowMultiple latency = drawn(jitter->latency, 0)) share_fairly(latency);
  if (const FlowMultiple transfer = drawn(jitter->transfer, 1)) stretch_transfers(transfer);
}

}  // namespace simgrad::cluster
