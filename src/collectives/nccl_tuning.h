/// The choice between ring and tree that NCCL makes by its own model of time.
///
/// Source: NVIDIA, NCCL, src/graph/tuning.cc (its latencies, its limits by channel, its corrections; CPUs of Intel) and
/// src/graph/search.cc (the bandwidths of rings and trees).
#pragma once

#include <algorithm>
#include <limits>
#include <string_view>

namespace simgrad::collectives {

enum class NcclGeneration : unsigned char { volta, ampere, hopper };
/// The links inside a host.
enum class NcclInside : unsigned char { nvlink, pcie };
enum class NcclProtocol : unsigned char { ll, ll128, simple };

/// The facts about a communicator that NCCL's choice depends on.
struct NcclFabric {
  int ranks = 2;
  int hosts = 1;
  double inside_bytes_per_s = std::numeric_limits<double>::infinity();  ///< between devices of a host
  double nics_bytes_per_s = std::numeric_limits<double>::infinity();    ///< of the NICs of a host together
  int channels = 2;
  NcclInside inside = NcclInside::nvlink;
  NcclGeneration generation = NcclGeneration::ampere;

  /// The bandwidth of rings or trees through all ranks: the lower one of links inside hosts and between them. On two
  /// hosts, where half of a vector crosses the NICs each way, NCCL lets trees have up to twice the NICs' bandwidth.
  double bus_bytes_per_s(bool tree) const {
    if (hosts == 1) return inside_bytes_per_s;
    return std::min(inside_bytes_per_s, (tree && hosts == 2 ? 2.0 : 1.0) * nics_bytes_per_s);
  }
  /// Whether trees enter and leave a host at one device: at its only one, and on H100.
  bool chained_trees() const { return ranks < 2 * hosts || generation == NcclGeneration::hopper; }
};

struct NcclChoice {
  bool tree = false;
  NcclProtocol protocol = NcclProtocol::simple;
  double seconds = 0.0;  ///< that NCCL expects
  double call_s = 0.0;   ///< of these, those before the first hop

  /// As in "nccl ring LL128".
  std::string_view name() const;
};

/// NCCL's choice for an all-reduce of so many bytes: the least of the times that it expects.
NcclChoice nccl_choice(const NcclFabric& fabric, double bytes);

/// The time that NCCL expects of an algorithm under a protocol; infinite where it does not use the protocol.
double nccl_seconds(const NcclFabric& fabric, bool tree, NcclProtocol protocol, double bytes);

}  // namespace simgrad::collectives
