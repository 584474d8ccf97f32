/// A service of BytePS: it sums its share of all workers' gradients, partition by partition.
#pragma once

#include <cstddef>
#include <vector>

#include "strategies/servers/summation_shares.h"
#include "strategies/strategy.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

class SummationService {
 public:
  /// gradients, sums: the codes that are sent instead of them.  All must outlive it.
  SummationService(const Server& service, std::vector<SummedPiece> partitions, const training::Compressor& gradients,
                   const training::Compressor& sums);

  /// Whether it has anything to sum.
  bool works() const { return !messages(0).empty(); }
  /// The partition after q, around.
  std::size_t after(std::size_t q) const { return (q + 1) % partitions_.size(); }

  using Pushes = std::vector<std::vector<cluster::Pending>>;  ///< by message, by worker
  /// Begins to receive all workers' pushes of partition q.
  Pushes expect(std::size_t q) const;
  /// The codes of the sums to answer, by message.  Virtual time: until the pushes have come, decoding, the additions,
  /// encoding.
  std::vector<Tensor> summed(std::size_t q, Pushes pushes);

 private:
  std::vector<SummedPiece> messages(std::size_t q) const;

  const Server& service_;
  std::vector<SummedPiece> partitions_;
  training::Encoder gradients_, sums_;
};

}  // namespace simgrad::strategies
