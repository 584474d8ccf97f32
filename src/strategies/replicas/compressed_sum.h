/// The sum of all members' vectors, on every member, through a compressor.
///
/// Codes that can be added are summed by an allreduce. Other codes are all-gathered around a ring, and every member
/// decodes and adds all of them.
/// Cost: none: T_allreduce(M). Sums: t_encode + T_allreduce(codes) + t_decode. Else, m bytes a code:
/// t_encode + (P-1) (alpha + m beta) + P t_decode + (P-1) t_add.
#pragma once

#include "collectives/allreduce.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

class CompressedSum {
 public:
  /// All must outlive it.
  CompressedSum(const training::Compressor& compressor, const collectives::Allreduce& algorithm,
                const training::Participant& rank)
      : encoder_(compressor, rank), algorithm_(algorithm) {}

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
  training::Encoder encoder_;
  const collectives::Allreduce& algorithm_;
};

}  // namespace simgrad::strategies
