/// A rank's compressor at work: with its memory, its draws, and its virtual time.
#pragma once

#include <map>

#include "cluster/ranks/communicator.h"
#include "training/compressors/compressor.h"

namespace simgrad::training {

class Learning;
class Participant;

/// Encodes the vectors that one rank sends. Each stretch of the parameters has a memory of its own. A rank that starts
/// anew, in a new generation, has a new encoder, and so nothing to remember; its draws are those of its step. A worker
/// that is alone sends nothing to anybody, so that nothing is encoded: it is the sequential algorithm.
class Encoder {
 public:
  /// The compressor and the learning problem must outlive it; the rank itself need not.
  Encoder(const Compressor& compressor, const Participant& rank);

  /// none for a worker that is alone.
  const Compressor& compressor() const { return compressor_; }

  /// What to send of x, which stands for the parameters from `first` on.  comm: of the actor that encodes.
  /// Virtual time: the compressor's encode flops, and 2 a number for error feedback; nothing where reductions are free.
  values::Tensor operator()(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t first = 0);
  /// The same for what does not change the memory: a code of the same tensor is made once.
  values::Tensor once(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t first = 0);
  /// The sum of all ranks' x by an allreduce of codes.  Only where compressor().sums().
  /// Virtual time: the same, what `all` takes, and decoding the sum.
  values::Tensor sum(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t first,
                     const Compressor::SumOverRanks& all);
  /// What was sent as so many numbers from `first` on, as float64.  Virtual time: the compressor's decode flops.
  values::Tensor decoded(const cluster::Communicator& comm, const values::Tensor& code, std::int64_t first = 0) const;
  /// Flops for adding one code of n numbers to a sum.
  double add_flops(std::int64_t n, std::int64_t first = 0) const {
    return compressor_.add_flops(n, occasion(n, first));
  }
  /// Time for decoding that many codes of n numbers each, which are decoded already.
  void charge_decoding(const cluster::Communicator& comm, std::int64_t n, std::int64_t codes,
                       std::int64_t first = 0) const;

  Occasion occasion(std::int64_t n, std::int64_t first) const;

 private:
  struct Path {
    CompressorMemory memory;
    std::int64_t step = 0;      ///< the rank's, at the last vector
    std::uint64_t vectors = 0;  ///< encoded at that step
    std::uint64_t last_identity = 0;
    values::Tensor last_code;
  };
  Occasion begin(Path& path, const cluster::Communicator& comm, std::int64_t n, std::int64_t first);
  values::Tensor corrected(const Path& path, const values::Tensor& x) const;
  void remember(Path& path, const values::Tensor& wanted, const values::Tensor& sent) const;

  const Compressor& compressor_;
  const Learning& learning_;
  std::map<std::int64_t, Path> paths_;  ///< by the first parameter
};

}  // namespace simgrad::training
