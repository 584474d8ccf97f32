/// The sum of all members' vectors, on every member, through a compressor.
///
/// Codes that can be added are summed by an allreduce. Other codes are gathered or scattered. Gathered: they are
/// all-gathered around a ring, and every member decodes and adds all of them. Scattered: every member encodes the
/// chunks of its vector, one for each member, and an all-to-all brings a chunk's codes to its member, who decodes and
/// adds them; codes of the sums are all-gathered. With error feedback a member also remembers what the codes of its
/// sums leave out. Cost: none: T_allreduce(M). Sums: t_encode + T_allreduce(codes) + t_decode. Gathered, m bytes a
/// code: t_encode + (P-1) (alpha + m beta) + P t_decode + (P-1) t_add. Scattered, of n numbers, all messages posted at
/// once: t_encode(n) + 2 (alpha + (P-1) m/P beta) + P t_decode(n/P) + (P-1) t_add(n/P) + t_encode(n/P) + t_decode(n).
/// Where several members share a host's NIC, the all-gather goes around a ring, as those of NCCL do: each code then
/// crosses a NIC once, in (P-1) (alpha + m/P beta).
/// Source of scattering: H. Tang et al., "1-bit Adam: Communication Efficient Large-Scale Training with Adam's
/// Convergence Speed", ICML 2021, section 6 (compressed_allreduce); S. Gan et al., "BAGUA: Scaling up Distributed
/// Learning with System Relaxations", VLDB 2021 (ByteGrad).
#pragma once

#include "collectives/allreduce.h"
#include "strategies/compression.h"
#include "training/compressors/encoder.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// The way of codes that cannot be added.
enum class CodesWay {
  gather,         ///< every member has all codes
  reduce_scatter  ///< every member has those of one chunk, and all have the codes of the sums
};
/// The option `codes`.
void describe_codes_way(base::Describer& d, CodesWay& way, const training::Compressor& compressor);

/// Whether all ranks send to all others at once.
bool scatters_codes(const training::Compressor& compressor, CodesWay way);

class CompressedSum {
 public:
  /// All must outlive it.
  CompressedSum(const training::Compressor& compressor, const collectives::Allreduce& algorithm, const Worker& rank,
                CodesWay way = CodesWay::gather)
      : encoder_(compressor, rank), sums_(compressor, rank), algorithm_(algorithm), rank_(rank), way_(way) {}

  /// x: (n) on every member, the parameters' stretch from `first` on.  Returns (n), equal on all. With one member
  /// nothing is sent, and x is returned as it is. Errors: cluster::PeerLost.
  values::Tensor operator()(const cluster::Communicator& comm, values::Tensor x, std::int64_t first = 0);

  /// Whether the sum is one collective and no more, wherever collectives are computed.
  bool is_one_collective(const cluster::Communicator& comm) const {
    return exact() && algorithm_.is_one_collective(comm);
  }
  /// Whether vectors are sent unchanged.
  bool exact() const { return encoder_.compressor().exact(); }

 private:
  values::Tensor gathered(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t first);
  values::Tensor scattered(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t first);
  /// Says what gathering costs, where it takes more bytes than no compression.
  void note_gathering(const cluster::Communicator& comm, const values::Tensor& code);

  training::Encoder encoder_;
  training::Encoder sums_;  ///< of this member's chunks of the sums
  const collectives::Allreduce& algorithm_;
  const Worker& rank_;
  CodesWay way_;
  bool noted_ = false;
};

}  // namespace simgrad::strategies
