/// A rank's use of its compressor: its memory, its draws, and its virtual time.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "training/compressors/compressor.h"

namespace simgrad::training {

class Learning;
class Participant;

/// Encodes the vectors that one rank sends. Each range of the parameters has its own memory. After a restart, in a new
/// generation, a rank has a new encoder and so an empty memory; its draws depend on its step. A worker that is
/// alone, without a server, sends nothing, so nothing is encoded: it is the sequential algorithm.
class Encoder {
 public:
  /// The compressor and the learning problem must outlive the encoder; the rank itself need not.
  Encoder(const Compressor& compressor, const Participant& rank);

  /// The compressor in use: `none` for a rank that has nobody to send to.
  const Compressor& compressor() const { return compressor_; }

  /// The code of x, whose numbers belong to the parameters from `first` on.  comm: of the actor that encodes.
  /// Virtual time: the compressor's work, and that of error feedback: its passes over the memory of the rank's device,
  /// or its flops where the host has none; none where reductions are free.
  values::Tensor operator()(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t first = 0);
  /// The codes of x in pieces of so many numbers, one behind the other. Of a shape alone every step has codes of the
  /// same bytes, so that they are made once.  Virtual time: that of all of them, together.
  values::Tensor in_pieces(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t first,
                           std::span<const std::int64_t> counts);
  /// The code of x without error feedback, which leaves the memory as it is; one tensor is encoded once.
  values::Tensor once(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t first = 0);
  /// The sum of all ranks' x by an allreduce of codes.  Only where compressor().sums().
  /// Virtual time: that of encoding, of `all`, and of decoding the sum.
  values::Tensor sum(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t first,
                     const Compressor::SumOverRanks& all);
  /// The numbers of a received code as float64.  Virtual time: that of decoding.
  values::Tensor decoded(const cluster::Communicator& comm, const values::Tensor& code, std::int64_t first = 0) const;
  /// Flops for adding one code of n numbers to a sum.
  double add_flops(std::int64_t n, std::int64_t first = 0) const {
    return compressor_.add_flops(n, occasion(n, first));
  }
  /// The flops of a reduction that takes as long as decoding one code of n numbers.
  double decode_flops(const cluster::Communicator& comm, std::int64_t n, std::int64_t first = 0) const;
  /// Charges the time of decoding so many codes of n numbers each, without decoding them.
  void charge_decoding(const cluster::Communicator& comm, std::int64_t n, std::int64_t codes,
                       std::int64_t first = 0) const;

  Occasion occasion(std::int64_t n, std::int64_t first) const;

 private:
  struct Path {
    CompressorMemory memory;
    std::int64_t step = 0;      ///< the rank's step at the last vector
    std::uint64_t vectors = 0;  ///< number of vectors encoded at that step
    std::uint64_t last_identity = 0;
    values::Tensor last_code;
  };
  Occasion begin(Path& path, const cluster::Communicator& comm, std::int64_t n, std::int64_t first) const;
  CodingWork encode_work(std::int64_t n, const Occasion& occasion) const;
  CodingWork decode_work(std::int64_t n, std::int64_t first) const;
  double number_bytes() const;
  values::Tensor shape_in_pieces(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t first,
                                 std::span<const std::int64_t> counts) const;
  values::Tensor corrected(const Path& path, const values::Tensor& x) const;
  void remember(Path& path, const values::Tensor& wanted, const values::Tensor& sent) const;

  const Compressor& compressor_;
  const Learning& learning_;
  std::map<std::int64_t, Path> paths_;  ///< keyed by the first parameter
};

}  // namespace simgrad::training
